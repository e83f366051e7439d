import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BatchStrategy, StrategyContext } from '@nereid/core';
import { createModelConfig, type ModelConfig } from '@nereid/model-config';
import { ModelRepository } from '@nereid/repository';
import { FakeBackend } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BatchStrategyOptions, checkServing, createEngine } from '../src/index.ts';
import { ADD_SUB, ask, loaded, type Served, type Tree } from './fixture.ts';

const BATCHING = `${ADD_SUB.replace('max_batch_size: 4', 'max_batch_size: 16')}dynamic_batching {}\n`;

const parameter = (key: string, value: string) => `parameters { key: "${key}" value { string_value: "${value}" } }\n`;

/** The strategy of the README. A request of `ADD_SUB` has two inputs of three FP32, 24 bytes. */
const VOLUME = readmeStrategy();

function readmeStrategy(): string {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  return /^```js\n(.*?)^```$/ms.exec(readme)?.[1] ?? expect.fail('the README has no strategy');
}

const SINGLE = 'export default () => ({ startBatch: () => ({ include: () => false }) });';

function tree(files: Tree, config = BATCHING): Tree {
  return { 'good/config.pbtxt': config, 'good/1/model.fake': '', ...files };
}

/** Executions for twelve requests that come together. */
async function executions({ engine }: Served): Promise<number> {
  const answers = await Promise.all(Array.from({ length: 12 }, () => ask(engine)));
  for (const { error } of answers) expect(error).toBeUndefined();
  return engine.statistics('good')[0]?.executionCount ?? 0;
}

/** Why version 1 does not load. */
async function refusal(files: Tree, config = BATCHING, batchStrategies: BatchStrategyOptions = {}): Promise<string> {
  await using served = await loaded(tree(files, config), { batchStrategies });
  expect(served.engine.isReady()).toBe(false);
  return served.engine.index()[0]?.reason ?? 'it has none';
}

describe('twelve requests that come together', () => {
  it('run in one execution without a strategy', async () => {
    await using served = await loaded(tree({}));
    expect(await executions(served)).toBe(1);
  });

  it('run in three under a volume strategy that has room for four requests', async () => {
    const config = BATCHING + parameter('MAX_BATCH_VOLUME_BYTES', '96');
    await using served = await loaded(tree({ 'good/1/batchstrategy.mjs': VOLUME }, config));
    expect(await executions(served)).toBe(3);
    expect(served.engine.statistics('good')[0]?.batching?.closed).toMatchObject({
      'custom-strategy': 2,
      'instance-idle': 1,
    });
  });

  it('run in twelve under one that lets each run alone', async () => {
    await using served = await loaded(tree({ 'good/batchstrategy.js': SINGLE }));
    expect(await executions(served)).toBe(12);
  });

  it('run in one where a strategy is at hand and dynamic_batching is not set', async () => {
    const config = ADD_SUB + parameter('TRITON_BATCH_STRATEGY_PATH', 'batchstrategy.mjs');
    await using served = await loaded(tree({ 'good/batchstrategy.mjs': SINGLE }, config));
    expect(served.engine.isReady()).toBe(true);
    expect(served.log.at('warn')).toEqual([
      "model 'good': the parameter TRITON_BATCH_STRATEGY_PATH has no effect without dynamic_batching; add it, or remove the parameter",
    ]);
  });
});

describe('a strategy is found', () => {
  let backends = '';
  beforeAll(() => {
    backends = mkdtempSync(join(tmpdir(), 'nereid-backends-'));
    mkdirSync(join(backends, 'fake'));
    writeFileSync(join(backends, 'fake', 'batchstrategy.mjs'), SINGLE);
  });
  afterAll(() => rmSync(backends, { recursive: true }));

  const version = { 'good/1/batchstrategy.mjs': SINGLE };
  const model = { 'good/batchstrategy.mjs': SINGLE };

  /** Which file is used, from the model's directory or the backends' on. */
  async function used(files: Tree, config = BATCHING): Promise<string> {
    await using served = await loaded(tree(files, config), { batchStrategies: { backendDirectory: backends } });
    const line = served.log.at('info').find((text) => text.includes('batches by the strategy')) ?? '';
    return line
      .replace(/^.*strategy '(.*)'$/, '$1')
      .replace(join(served.path, 'good'), 'model')
      .replace(backends, 'backends');
  }

  it.each<[string, Tree, string]>([
    ['in the version directory first', { ...version, ...model }, 'model/1/batchstrategy.mjs'],
    ['then in the model directory', model, 'model/batchstrategy.mjs'],
    ['then in that of the backend', {}, 'backends/fake/batchstrategy.mjs'],
    ['as .mjs before .js', { ...model, 'good/batchstrategy.js': SINGLE }, 'model/batchstrategy.mjs'],
    ['not where a directory has the name', { 'good/1/batchstrategy.mjs': null, ...model }, 'model/batchstrategy.mjs'],
  ])('%s', async (_, files, expected) => {
    expect(await used(files)).toBe(expected);
  });

  it.each(['other.mjs', './1/../other.mjs', 'other.js', 'other.cjs'])(
    'where the parameter says, before any other: %s',
    async (path) => {
      const source = path.endsWith('.cjs') ? `module.exports = ${SINGLE.slice('export default '.length)}` : SINGLE;
      const name = path.replace(/^.*\//, '');
      const config = BATCHING + parameter('TRITON_BATCH_STRATEGY_PATH', path);
      expect(await used({ ...version, [`good/${name}`]: source }, config)).toBe(`model/${name}`);
    },
  );
});

describe('a model is refused', () => {
  const named = (path: string) => BATCHING + parameter('TRITON_BATCH_STRATEGY_PATH', path);

  it.each<[string, string, Tree, RegExp]>([
    [
      'whose parameter leads out of its directory',
      '../escaped.mjs',
      { 'escaped.mjs': SINGLE },
      /^Batching library path escapes model repository: parameter TRITON_BATCH_STRATEGY_PATH of model 'good': '..\/escaped.mjs' escapes the directory/,
    ],
    [
      'whose parameter is a path elsewhere',
      '/lib/batchstrategy.so',
      {},
      /^Batching library path escapes model repository: .*it leads to '.*\/lib\/batchstrategy.so'/,
    ],
    [
      'whose parameter names a link that leads out',
      'link.mjs',
      { 'escaped.mjs': SINGLE, 'good/link.mjs': { link: '../escaped.mjs' } },
      /^Batching library path escapes model repository: /,
    ],
    [
      'whose strategy is not there',
      'none.mjs',
      {},
      /^Batching library path not found: .*\/good\/none.mjs, which the parameter TRITON_BATCH_STRATEGY_PATH of model 'good' names$/,
    ],
    [
      'whose strategy is of no known kind',
      'strategy.txt',
      { 'good/strategy.txt': '' },
      /names '.*\/good\/strategy.txt', expected a file whose name ends in .so, .mjs, .js, .cjs$/,
    ],
  ])('%s', async (_, path, files, message) => {
    expect(await refusal(files, named(path))).toMatch(message);
  });

  it.each<[string, string, RegExp]>([
    ['cannot be parsed', 'export default {', /cannot be imported: ./],
    ['throws when it is imported', "throw new Error('no licence');", /cannot be imported: no licence$/],
    [
      'exports no function',
      'export const open = () => {};',
      /has no function as its default export, but undefined; export default \(context\)/,
    ],
    ['exports an object', 'export default {};', /has no function as its default export, but an object without one/],
    [
      'makes none',
      'export default () => {};',
      /cannot be opened: expected an object with a function startBatch from it, got undefined$/,
    ],
    ['makes something else', 'export default () => ({});', /got an object without one$/],
    ['throws when it is opened', VOLUME, /cannot be opened: set the parameter MAX_BATCH_VOLUME_BYTES$/],
    ['rejects', "export default async () => { throw new Error('later'); };", /cannot be opened: later$/],
  ])('whose strategy %s', async (_, source, message) => {
    const reason = await refusal({ 'good/1/batchstrategy.mjs': source });
    expect(reason).toMatch(/^failed to load model 'good': the batching strategy '.*\/good\/1\/batchstrategy.mjs' /);
    expect(reason).toMatch(message);
  });

  it('which has a library, where nothing opens one', async () => {
    expect(await refusal({ 'good/batchstrategy.so': '' })).toMatch(
      /^model 'good' has the batching library '.*\/good\/batchstrategy.so', and this server opens none; /,
    );
  });

  it('which has sequence_batching and names one', async () => {
    const config = `${ADD_SUB}sequence_batching { }\n${parameter('TRITON_BATCH_STRATEGY_PATH', 'batchstrategy.mjs')}`;
    expect(await refusal({ 'good/batchstrategy.mjs': SINGLE }, config)).toMatch(
      /^model 'good' has sequence_batching, beside which the parameter TRITON_BATCH_STRATEGY_PATH has no meaning/,
    );
  });

  it('before it is served, when only its configuration is checked', async () => {
    const parameters = new Map([['TRITON_BATCH_STRATEGY_PATH', { stringValue: 'none.mjs' }]]);
    const config = createModelConfig({ name: 'm', dynamicBatching: {}, parameters });
    expect(await checkServing(config, { modelDirectory: import.meta.dirname })).toEqual([
      expect.objectContaining({
        severity: 'error',
        path: 'parameters',
        message: expect.stringContaining('Batching library path not found'),
      }),
    ]);
  });
});

describe('a strategy', () => {
  const library = { 'good/1/batchstrategy.so': '' };
  const single = (more: Partial<BatchStrategy> = {}): BatchStrategy => ({
    startBatch: () => ({ include: () => false }),
    ...more,
  });

  it('is told of the model, and closed when that is unloaded', async () => {
    const seen: StrategyContext<ModelConfig>[] = [];
    const closed: boolean[] = [];
    const openLibrary: BatchStrategyOptions['openLibrary'] = async (path, context) => {
      expect(path).toBe(join(context.versionDirectory, 'batchstrategy.so'));
      seen.push(context);
      return single({ close: async () => void closed.push(true) });
    };
    await using served = await loaded(tree(library), { batchStrategies: { openLibrary } });
    expect(seen).toEqual([
      expect.objectContaining({ name: 'good', version: '1', modelDirectory: join(served.path, 'good') }),
    ]);
    expect(await executions(served)).toBe(12);
    expect(closed).toEqual([]);
    await served.engine.stop();
    expect(closed).toEqual([true]);
  });

  it('is closed when the rest of the model does not load', async () => {
    const closed: boolean[] = [];
    const openLibrary = async () => single({ close: () => void closed.push(true) });
    const config = `${BATCHING}model_warmup { name: "w" batch_size: 1 inputs { key: "nobody" value { data_type: TYPE_FP32 dims: 3 zero_data: true } } }`;
    await using served = await loaded(tree(library, config), { batchStrategies: { openLibrary } });
    expect(served.engine.isReady()).toBe(false);
    expect(closed).toEqual([true]);
  });

  it('that fails to open leaves nothing of the model open', async () => {
    const fake = new FakeBackend();
    const closed: string[] = [];
    const load: FakeBackend['load'] = async (context) => {
      const model = await fake.load(context);
      return {
        createInstance: (instance) => model.createInstance(instance),
        close: async () => void closed.push(context.name),
      };
    };
    const openLibrary = async () => {
      throw new Error('no such strategy');
    };
    const backends = [{ name: 'fake', load }];
    await using served = await loaded(tree(library), { backends, batchStrategies: { openLibrary } });
    expect(served.engine.index()[0]?.reason).toBe('no such strategy');
    expect(closed).toEqual(['good']);
  });

  it('that fails to close is told of in the log, and the model is unloaded all the same', async () => {
    const close = () => {
      throw new Error('it does not end');
    };
    const openLibrary = async () => single({ close });
    await using served = await loaded(tree(library), { batchStrategies: { openLibrary } });
    expect(await served.engine.stop()).toMatchObject({ isComplete: true });
    expect(served.log.at('error')).toEqual(["unloading 'good': it does not end"]);
  });

  it('that fails on a request is told of in the log with the model, and everyone is answered', async () => {
    const source = "export default () => ({ startBatch: () => ({ include() { throw new Error('broken'); } }) });";
    await using served = await loaded(tree({ 'good/batchstrategy.mjs': source }));
    expect(await executions(served)).toBe(12);
    expect(new Set(served.log.at('error'))).toEqual(
      new Set([
        "the batching strategy of model 'good' could not tell whether a request joins its batch, which is closed before it: broken",
      ]),
    );
  });

  it('whose file was changed is the new one for the model that loads next', async () => {
    await using first = await loaded(tree({ 'good/batchstrategy.mjs': SINGLE }));
    expect(await executions(first)).toBe(12);
    const file = join(first.path, 'good', 'batchstrategy.mjs');
    writeFileSync(file, SINGLE.replace('false', 'true'));
    utimesSync(file, 1, 1);
    const repository = new ModelRepository({ paths: [first.path] });
    await using engine = createEngine({ repository, backends: [first.backend] });
    await engine.load();
    expect(await executions({ ...first, engine })).toBe(1);
  });
});
