import { readFileSync } from 'node:fs';
import { createModelConfig, validateModelConfig } from '@nereid/model-config';
import { describe, expect, it } from 'vitest';
import { type Engine, readParameters } from '../src/parameters.ts';
import { CollectingLogger } from './collecting-logger.ts';

function read(values: Readonly<Record<string, string>>, engine: Engine = 'torchscript') {
  const logger = new CollectingLogger();
  const entries = Object.entries(values);
  return { parameters: readParameters({ modelName: 'm', engine, entries, logger }), lines: logger.lines };
}

describe('readParameters', () => {
  it('has defaults', () => {
    expect(read({}).parameters).toEqual({
      inferenceMode: true,
      optimizedExecution: true,
      weightSharing: false,
      intraOpThreads: undefined,
      interOpThreads: undefined,
      cacheCleaning: false,
      cudnn: true,
      jitExecutor: undefined,
      jitProfiling: undefined,
      tensorFuser: undefined,
      customOpsLibraries: [],
      modelInitLibrary: undefined,
      aotiLoadCheck: true,
      aotiModelName: undefined,
    });
  });

  it.each(['false', 'off', '0', 'FALSE', 'Off'])('takes %s for false', (text) => {
    expect(read({ INFERENCE_MODE: text }).parameters.inferenceMode).toBe(false);
  });

  it.each(['true', 'on', '1', 'TRUE', 'On'])('takes %s for true', (text) => {
    expect(read({ DISABLE_OPTIMIZED_EXECUTION: text }).parameters.optimizedExecution).toBe(false);
  });

  it.each([
    ['4', 4],
    ['0', undefined],
    ['-2', undefined],
  ])('takes INTRA_OP_THREAD_COUNT %s for %s', (text, expected) => {
    expect(read({ INTRA_OP_THREAD_COUNT: text }).parameters.intraOpThreads).toBe(expected);
  });

  it('names every value that does not parse', () => {
    expect(() => read({ INFERENCE_MODE: 'yes', INTRA_OP_THREAD_COUNT: '4abc', DISABLE_CUDNN: '' })).toThrow(
      "model 'm': parameter 'INFERENCE_MODE' is 'yes', expected true, on, 1, false, off or 0; " +
        "parameter 'INTRA_OP_THREAD_COUNT' is '4abc', expected a whole number of at most 2147483647; " +
        "parameter 'DISABLE_CUDNN' is '', expected true, on, 1, false, off or 0",
    );
  });

  it('refuses integers beyond 32 bits', () => {
    expect(() => read({ INTRA_OP_THREAD_COUNT: '99999999999' })).toThrow('at most 2147483647');
  });

  it('logs each setting once', () => {
    expect(read({ DISABLE_CUDNN: 'true', DISABLE_OPTIMIZED_EXECUTION: '1', INFERENCE_MODE: 'off' }).lines).toEqual([
      "info: Optimized execution is disabled for model instance 'm'",
      "info: Cache Cleaning is disabled for model instance 'm'",
      "info: Inference Mode is disabled for model instance 'm'",
      "info: cuDNN is disabled for model instance 'm'",
    ]);
  });

  it.each([
    ['ENABLE_WEIGHT_SHARING', 'Weight sharing'],
    ['ENABLE_TENSOR_FUSER', 'Tensor fuser'],
    ['ENABLE_JIT_PROFILING', 'JIT profiling'],
    ['ENABLE_JIT_EXECUTOR', 'JIT executor'],
  ])('logs %s only when it is set', (key, name) => {
    expect(read({}).lines.join()).not.toContain(name);
    expect(read({ [key]: 'on' }).lines).toContain(`info: ${name} is enabled for model instance 'm'`);
    expect(read({ [key]: 'off' }).lines).toContain(`info: ${name} is disabled for model instance 'm'`);
  });

  it.each([
    ['ENABLE_JIT_EXECUTOR', 'jitExecutor'],
    ['ENABLE_JIT_PROFILING', 'jitProfiling'],
    ['ENABLE_TENSOR_FUSER', 'tensorFuser'],
  ] as const)('%s has three states', (key, field) => {
    expect([read({}), read({ [key]: '1' }), read({ [key]: '0' })].map(({ parameters }) => parameters[field])).toEqual([
      undefined,
      true,
      false,
    ]);
  });

  it.each(['ENABLE_CACHE_CLEANING', 'CACHE_CLEANING_ENABLED'])('takes %s for cache cleaning', (key) => {
    expect(read({ [key]: 'true' }).parameters.cacheCleaning).toBe(true);
  });

  it('says nothing of graph optimisation for a compiled package', () => {
    expect(read({}, 'aoti').lines.join()).not.toContain('Optimized');
  });

  it.each([
    [
      { INFERENCE_MOD: 'true' },
      'torchscript',
      "unknown parameter 'INFERENCE_MOD' is ignored; did you mean 'INFERENCE_MODE'?",
    ],
    [{ something: 'x' }, 'torchscript', "unknown parameter 'something' is ignored"],
    [{ ENABLE_JIT_PROFILING: 'true' }, 'aoti', "parameter 'ENABLE_JIT_PROFILING' has no effect for torch_aoti"],
    [{ ENABLE_JIT_EXECUTOR: 'off' }, 'aoti', "parameter 'ENABLE_JIT_EXECUTOR' has no effect for torch_aoti"],
    [{ ENABLE_TENSOR_FUSER: '0' }, 'aoti', "parameter 'ENABLE_TENSOR_FUSER' has no effect for torch_aoti"],
    [
      { DISABLE_OPTIMIZED_EXECUTION: 'true' },
      'aoti',
      "parameter 'DISABLE_OPTIMIZED_EXECUTION' has no effect for torch_aoti",
    ],
    [{ AOTI_LOAD_CHECK: 'true' }, 'torchscript', "parameter 'AOTI_LOAD_CHECK' has no effect for pytorch_libtorch"],
  ] as const)('warns about %j', (values, engine, warning) => {
    expect(read(values, engine).lines.filter((line) => line.startsWith('warn'))).toEqual([
      `warn: model 'm': ${warning}`,
    ]);
  });

  it.each(['torchscript', 'aoti'] as const)(
    'says nothing of those that a batching strategy reads, for %s',
    (engine) => {
      const { lines } = read({ TRITON_BATCH_STRATEGY_PATH: 'a.so', MAX_BATCH_VOLUME_BYTES: '96' }, engine);
      expect(lines.filter((line) => line.startsWith('warn'))).toEqual([]);
    },
  );
});

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const documented = [...readme.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, key = '']) => key);

describe('every key of the README', () => {
  it('is known', () => {
    expect(documented).toContain('INFERENCE_MODE');
    const { lines } = read(Object.fromEntries(documented.map((key) => [key, '1'])));
    expect(lines.filter((line) => line.includes('unknown parameter'))).toEqual([]);
  });

  it('is known to the check of configurations', () => {
    const parameters = new Map(documented.map((key) => [key, { stringValue: '' }]));
    const config = createModelConfig({ name: 'm', backend: 'pytorch', parameters });
    const diagnostics = validateModelConfig(config, { incomplete: true });
    expect(diagnostics.filter(({ reason }) => reason === 'unknown-parameter')).toEqual([]);
  });
});
