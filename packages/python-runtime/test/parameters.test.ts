import { describe, expect, it } from 'vitest';
import { readParameters } from '../src/parameters.ts';
import { CollectingLogger } from './collecting-logger.ts';

function read(texts: Readonly<Record<string, string>>, logger = new CollectingLogger()) {
  return readParameters({ modelName: 'm', texts: new Map(Object.entries(texts)), logger });
}

describe('readParameters', () => {
  it('has one thread of each kind, no compile options, no environment and no class by default', () => {
    expect(read({})).toEqual({
      numThreads: 1,
      numInteropThreads: 1,
      compileOptions: {},
      executionEnvPath: undefined,
      modelClass: undefined,
    });
  });

  it('reads every value', () => {
    const options = '{"dynamic": true, "options": {"trace.enabled": false}, "mode": null}';
    expect(
      read({
        NUM_THREADS: '4',
        NUM_INTEROP_THREADS: '02',
        TORCH_COMPILE_OPTIONAL_PARAMETERS: options,
        EXECUTION_ENV_PATH: '$$TRITON_MODEL_DIRECTORY/env.tar.gz',
        MODEL_CLASS: 'Net',
      }),
    ).toEqual({
      numThreads: 4,
      numInteropThreads: 2,
      compileOptions: { dynamic: true, options: { 'trace.enabled': false }, mode: null },
      executionEnvPath: '$$TRITON_MODEL_DIRECTORY/env.tar.gz',
      modelClass: 'Net',
    });
    expect(read({ EXECUTION_ENV_PATH: '', MODEL_CLASS: '' })).toMatchObject({
      executionEnvPath: undefined,
      modelClass: undefined,
    });
  });

  it.each(['0', '-1', '4abc', '', '1.5', '1e1', ' 2', '2000'])('refuses %j as a number of threads', (text) => {
    for (const key of ['NUM_THREADS', 'NUM_INTEROP_THREADS']) {
      expect(() => read({ [key]: text })).toThrow(
        `model 'm': parameter '${key}' is '${text}', expected a whole number from 1 to 1024`,
      );
    }
  });

  it.each(['', '{', '[]', 'null', '"fullgraph"', '{"a": NaN}', "{'dynamic': True}"])(
    'refuses %j as compile options',
    (text) => {
      expect(() => read({ TORCH_COMPILE_OPTIONAL_PARAMETERS: text })).toThrow(
        `model 'm': parameter 'TORCH_COMPILE_OPTIONAL_PARAMETERS' is '${text}', expected a JSON object such as {"dynamic": true}`,
      );
    },
  );

  it('refuses the model among the compile options', () => {
    expect(() => read({ TORCH_COMPILE_OPTIONAL_PARAMETERS: '{"model": 1}' })).toThrow(
      "'model' is not an optional parameter for 'torch.compile'",
    );
  });

  it('names every value that does not parse in one error', () => {
    expect(() => read({ NUM_THREADS: 'x', NUM_INTEROP_THREADS: 'y' })).toThrow(
      /'NUM_THREADS' is 'x'.*; .*'NUM_INTEROP_THREADS' is 'y'/,
    );
  });

  it('says nothing of those that a batching strategy reads', () => {
    const logger = new CollectingLogger();
    read({ NUM_THREADS: '1', TRITON_BATCH_STRATEGY_PATH: 'a.so', MAX_BATCH_VOLUME_BYTES: '96' }, logger);
    expect(logger.lines).toEqual([]);
  });

  it('warns about keys that mean nothing here, also those of the native engines', () => {
    const logger = new CollectingLogger();
    read({ INFERENCE_MODE: 'false', NUM_THREADS: '1' }, logger);
    expect(logger.lines).toEqual([
      "warn: model 'm': parameter 'INFERENCE_MODE' has no effect for a model.py, which knows NUM_THREADS, NUM_INTEROP_THREADS, " +
        'TORCH_COMPILE_OPTIONAL_PARAMETERS, EXECUTION_ENV_PATH, MODEL_CLASS',
    ]);
  });
});
