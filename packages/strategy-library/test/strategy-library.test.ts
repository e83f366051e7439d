import { join } from 'node:path';
import { silentLogger } from '@nereid/core';
import { createModelConfig } from '@nereid/model-config';
import { testLibrary } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { openStrategyLibrary } from '../src/index.ts';
import { CONFIG, parameter, send, serve } from './fixture.ts';

describe('twelve requests of 32 bytes to a model', () => {
  it('run in two executions at most without a library', async () => {
    await using served = await serve();
    expect((await send(served.engine, 12))?.executionCount).toBeLessThanOrEqual(2);
  });

  it('run in four to six under a volume strategy of 96 bytes', async () => {
    const config = CONFIG + parameter('MAX_BATCH_VOLUME_BYTES', '96');
    await using served = await serve({ '1/batchstrategy.so': await testLibrary('volume_strategy') }, { config });
    const statistics = await send(served.engine, 12);
    expect(statistics?.executionCount).toBeGreaterThanOrEqual(4);
    expect(statistics?.executionCount).toBeLessThanOrEqual(6);
    expect(statistics?.batching?.closed['custom-strategy']).toBeGreaterThan(0);
  });

  it('run in twelve under a strategy of single requests', async () => {
    await using served = await serve({ 'batchstrategy.so': await testLibrary('single_strategy') });
    expect((await send(served.engine, 12))?.executionCount).toBe(12);
  });
});

describe('a library is found', () => {
  const config = CONFIG + parameter('MAX_BATCH_VOLUME_BYTES', '96');

  it.each<[string, string, string | undefined, number]>([
    ['in the version directory before that of the model', '1/batchstrategy.so', 'batchstrategy.so', 12],
    ['in the model directory before that of the backend', 'batchstrategy.so', 'backends/pytorch/batchstrategy.so', 12],
    ['in the backend directory', 'backends/pytorch/batchstrategy.so', undefined, 12],
  ])('%s', async (_, first, second, expected) => {
    const others = second === undefined ? {} : { [second]: await testLibrary('volume_strategy') };
    await using served = await serve({ [first]: await testLibrary('single_strategy'), ...others }, { config });
    expect((await send(served.engine, 12))?.executionCount).toBe(expected);
  });

  it('where the parameter says, before any other', async () => {
    const [single, volume] = [await testLibrary('single_strategy'), await testLibrary('volume_strategy')];
    const named = CONFIG + parameter('TRITON_BATCH_STRATEGY_PATH', 'libraries/mine.so');
    await using served = await serve({ 'libraries/mine.so': single, '1/batchstrategy.so': volume }, { config: named });
    expect((await send(served.engine, 12))?.executionCount).toBe(12);
  });
});

describe('a model is refused', () => {
  it.each<[string, readonly string[], RegExp]>([
    [
      'with the error of a library that fails to initialise',
      ['-DFAILS_TO_INITIALIZE'],
      /this strategy knows no such model$/,
    ],
    ['with what a library throws', ['-DTHROWS'], /thrown by the library$/],
    [
      'that has a library without one of the functions',
      ['-DIS_PARTIAL'],
      /it does not define all required custom batching functions; these are missing: TRITONBACKEND_ModelBatchIncludeRequest$/,
    ],
  ])('%s', async (_, flags, message) => {
    await using served = await serve({ '1/batchstrategy.so': await testLibrary('single_strategy', flags) });
    expect(served.reason).toMatch(
      /^failed to load model 'm': the batching library '.*\/m\/1\/batchstrategy.so' cannot be used: /,
    );
    expect(served.reason).toMatch(message);
  });

  it('whose parameter leads out of its directory', async () => {
    const library = await testLibrary('single_strategy');
    const config = CONFIG + parameter('TRITON_BATCH_STRATEGY_PATH', library);
    await using served = await serve({}, { config });
    expect(served.reason).toMatch(/^Batching library path escapes model repository: /);
  });

  it('whose library is none', async () => {
    const place = join(import.meta.dirname, 'fixture.ts');
    await using served = await serve({ '1/batchstrategy.so': place });
    expect(served.reason).toMatch(/cannot be used: the library cannot be opened: .*invalid ELF header/);
  });
});

describe('a library at fault', () => {
  it.each<[string, string, number, string]>([
    ['that starts no batch', '-DFAILS_TO_START', 3, 'could not start a batch, which gets one request: no batch today'],
    [
      'that cannot tell about a request',
      '-DFAILS_TO_INCLUDE',
      3,
      'could not tell whether a request joins its batch, which is closed before it: cannot tell',
    ],
    ['that ends no batch', '-DFAILS_TO_FINISH', 3, 'could not end a batch: the batch does not end'],
  ])('%s answers everyone, and the log tells', async (_, flag, executions, message) => {
    await using served = await serve({ '1/batchstrategy.so': await testLibrary('single_strategy', [flag]) });
    expect((await send(served.engine, 3))?.executionCount).toBe(executions);
    expect(new Set(served.log.errors)).toEqual(new Set([`the batching strategy of model 'm' ${message}`]));
  });

  it('that does not end with the model is told of in the log, and the model is unloaded', async () => {
    await using served = await serve({
      '1/batchstrategy.so': await testLibrary('single_strategy', ['-DFAILS_TO_FINISH']),
    });
    expect(await served.engine.stop()).toMatchObject({ isComplete: true });
    expect(served.log.errors).toEqual(["unloading 'm': the strategy does not end"]);
  });
});

describe('a library', () => {
  it('is shown the model and its configuration as clients see it', async () => {
    await using served = await serve({ '1/batchstrategy.so': await testLibrary('probe_strategy') });
    expect(served.log.infos).toEqual(expect.arrayContaining([`model m 1 0 ${served.directory}`]));
    await send(served.engine, 1);
    expect(served.log.infos).toEqual(
      expect.arrayContaining([
        'id r0',
        'input a FP32 [1,4] 16 bytes in 1, CPU 0, last byte 0',
        'input b FP32 [1,4] 16 bytes in 1, CPU 0, last byte 63',
        'output OUTPUT__0',
        'output OUTPUT__1',
      ]),
    );
  });

  it('that is missing is told by name', async () => {
    const place = { modelDirectory: '/models/m', versionDirectory: '/models/m/1' };
    const context = { name: 'm', version: '1', ...place, config: createModelConfig(), logger: silentLogger };
    await expect(openStrategyLibrary('/models/m/batchstrategy.so', context)).rejects.toMatchObject({
      name: 'StrategyLibraryError',
      code: 'NOT_FOUND',
      reason: 'library',
      message:
        "failed to load model 'm': the batching library '/models/m/batchstrategy.so' cannot be used: no such file: /models/m/batchstrategy.so",
    });
  });
});
