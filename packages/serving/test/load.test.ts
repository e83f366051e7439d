import { join } from 'node:path';
import { InferenceServerError, type LoadedModel } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import { ModelRepository } from '@nereid/repository';
import { addSub, FakeBackend } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../src/index.ts';
import { ADD_SUB, ask, GOOD, loaded, RecordingLogger, serve, type Tree } from './fixture.ts';

const bad = (config: string): Tree => ({ 'bad/config.pbtxt': config, 'bad/1/model.fake': '' });
const with_ = (addition: string): Tree => bad(ADD_SUB + addition);

interface Fault {
  readonly title: string;
  readonly tree: Tree;
  /** Part of the reason, in index, table and log alike. */
  readonly reason: string | RegExp;
  /** Absent when the model is not read at all. */
  readonly version?: string;
}

const FAULTS: readonly Fault[] = [
  {
    title: 'a syntax error in its configuration',
    tree: bad('backend: "fake"\nmax_batch_size 4 4\n'),
    reason: /bad\/config\.pbtxt:2:\d+: /,
  },
  {
    title: 'an unknown field',
    tree: with_('default_model_name: "x"\n'),
    reason: /config\.pbtxt:5:1: .*default_model_filename/,
  },
  {
    title: 'a wrong datatype name',
    tree: bad(ADD_SUB.replace('TYPE_FP32', 'FP32')),
    reason: /config\.pbtxt:3:\d+: .*TYPE_FP32/,
  },
  {
    title: 'a dimension of 0',
    tree: bad(ADD_SUB.replace('[ 3 ]', '[ 0 ]')),
    reason: /config\.pbtxt:3:\d+: .*dimension must be integer >= 1, or -1/,
    version: '1',
  },
  {
    title: 'the name of another model',
    tree: with_('name: "other"\n'),
    reason: "unexpected directory name 'bad' for model 'other'",
  },
  {
    title: 'no version directory',
    tree: { 'bad/config.pbtxt': ADD_SUB },
    reason: /at least one version must be available.*create '.*\/bad\/1'/,
  },
  {
    title: 'only ill-named version directories',
    tree: { 'bad/config.pbtxt': ADD_SUB, 'bad/v1': null, 'bad/001': null },
    reason: 'at least one version must be available',
  },
  {
    title: 'a policy for absent versions',
    tree: with_('version_policy { specific { versions: [ 9 ] } }\n'),
    reason: /at least one version must be available.*its version directories are 1/,
  },
  {
    title: 'no configuration and no model file',
    tree: { 'bad/1': null },
    reason: "Could not determine backend for model 'bad'",
  },
  {
    title: 'a configuration that is a directory',
    tree: { 'bad/config.pbtxt': null, 'bad/1': null },
    reason: 'it is a directory',
  },
  { title: 'a broken link as its directory', tree: { bad: { link: 'gone' } }, reason: "broken link to 'gone'" },
  {
    title: 'broken links as its versions',
    tree: { 'bad/config.pbtxt': ADD_SUB, 'bad/1': { link: 'gone' } },
    reason: "broken link to 'gone'",
  },
  {
    title: 'an ensemble',
    tree: bad('platform: "ensemble"\nensemble_scheduling { step [ { model_name: "good" model_version: -1 } ] }\n'),
    reason: 'is an ensemble, which is not supported',
  },
  {
    title: 'repository agents',
    tree: with_('model_repository_agents { agents [ { name: "checksum" } ] }\n'),
    reason: "model_repository_agents ('checksum'), which are not supported",
  },
  {
    title: 'a backend that is not there',
    tree: bad(ADD_SUB.replace('fake', 'magic')),
    reason: "unable to find backend 'magic' for model 'bad'; this server has: 'fake'",
    version: '1',
  },
  { title: 'a GPU where there is none', tree: with_('instance_group { kind: KIND_GPU }\n'), reason: 'GPU' },
  {
    title: 'two thousand instances',
    tree: with_('instance_group { count: 2000 }\n'),
    reason: 'make 2000 instances; at most 1024 are created',
    version: '1',
  },
  {
    title: 'passive instances only',
    tree: with_('instance_group { count: 1 passive: true }\n'),
    reason: "every instance group of model 'bad' is passive",
    version: '1',
  },
  {
    title: 'a label file outside',
    tree: bad(ADD_SUB.replace('name: "sum"', 'name: "sum" label_filename: "../secret.txt"')),
    reason: /config\.pbtxt:4:\d+: .*escapes the model directory/,
  },
  {
    title: 'a label file that is a link to the outside',
    tree: {
      ...bad(ADD_SUB.replace('name: "sum"', 'name: "sum" label_filename: "l.txt"')),
      'secret.txt': '',
      'bad/l.txt': { link: '../secret.txt' },
    },
    reason: "label_filename of output 'sum': 'l.txt' escapes the directory",
    version: '1',
  },
  {
    title: 'a label file that is missing',
    tree: bad(ADD_SUB.replace('name: "sum"', 'name: "sum" label_filename: "l.txt"')),
    reason: 'it does not exist',
    version: '1',
  },
  {
    title: 'a warmup sample that fails',
    tree: with_(
      'model_warmup { name: "w" batch_size: 1 inputs { key: "a" value { data_type: TYPE_FP32 dims: [ 3 ] zero_data: true } } }\n',
    ),
    reason: "failed to run warmup sample 'w': expected 2 inputs but got 1 inputs",
    version: '1',
  },
];

describe('one model with a fault leaves the others serving and says why in index, table and log', () => {
  it.each(FAULTS)('$title', async ({ tree, reason, version }) => {
    await using served = serve({ ...GOOD, ...tree });
    const { engine, log } = served;
    const report = await engine.load();

    const said = typeof reason === 'string' ? expect.stringContaining(reason) : expect.stringMatching(reason);
    const entry =
      version === undefined
        ? { name: 'bad', reason: said }
        : { name: 'bad', version, state: 'UNAVAILABLE', reason: said };
    expect(engine.index()).toEqual([entry, { name: 'good', version: '1', state: 'READY' }]);
    expect(engine.models()[0]).toEqual({ ...entry, instances: [] });
    expect(log.at('error').join('\n')).toEqual(said);
    expect(report).toMatchObject({ isComplete: false, failures: [{ name: 'bad', reason: said }] });
    expect((await ask(engine)).response?.outputs.map((output) => output.name)).toEqual(['sum', 'diff']);
    expect(engine.isLive()).toBe(true);
    expect(engine.isReady()).toBe(false);
  });
});

it('a name in two repositories is served from neither, and says so', async () => {
  await using first = serve({ ...GOOD, 'twice/config.pbtxt': ADD_SUB, 'twice/1/model.fake': '' });
  await using second = serve({ 'twice/config.pbtxt': ADD_SUB, 'twice/1/model.fake': '' });
  const repository = new ModelRepository({ paths: [first.path, second.path] });
  await using engine = createEngine({ repository, backends: [new FakeBackend({ compute: addSub() })] });
  const report = await engine.load();
  const reason = expect.stringContaining('model appears in two or more repositories');
  expect(engine.index()).toEqual([
    { name: 'good', version: '1', state: 'READY' },
    { name: 'twice', state: 'UNAVAILABLE', reason },
  ]);
  expect(report.failures).toEqual([{ name: 'twice', reason }]);
  expect(engine.isModelReady('twice')).toBe(false);
});

describe('a backend that fails', () => {
  const failing = (load: FakeBackend['load']): FakeBackend => {
    const backend = new FakeBackend({ compute: addSub() });
    const original = backend.load.bind(backend);
    backend.load = (context) => (context.name === 'bad' ? load.call(backend, context) : original(context));
    return backend;
  };

  it.each<[string, FakeBackend['load'], string]>([
    [
      'by rejecting',
      async () => Promise.reject(new InferenceServerError('INVALID_ARG', 'truncated archive')),
      'truncated archive',
    ],
    [
      'by rejecting with a stranger',
      async () => Promise.reject(new TypeError('x is not a function')),
      'x is not a function',
    ],
    [
      'by throwing at once',
      () => {
        throw new Error('thrown');
      },
      'thrown',
    ],
    ['without a message', async () => Promise.reject(new Error('')), 'INTERNAL without a message'],
  ])('%s fails that version alone', async (_, load, reason) => {
    await using served = await loaded({ ...GOOD, ...bad(ADD_SUB) }, { backend: failing(load) });
    expect(served.engine.index()).toEqual([
      { name: 'bad', version: '1', state: 'UNAVAILABLE', reason },
      { name: 'good', version: '1', state: 'READY' },
    ]);
    expect(served.log.at('error')).toEqual([expect.stringMatching(/^failed to load 'bad' version 1: [A-Z_]+: /)]);
  });

  it('at its second instance has the first closed, and the model', async () => {
    const closed: string[] = [];
    let created = 0;
    const model: LoadedModel = {
      createInstance: async ({ spec }) => {
        if (created++ === 1) throw new Error('out of memory');
        return {
          name: spec.name,
          capacity: 1,
          execute: async () => {},
          close: async () => void closed.push(spec.name),
        };
      },
      close: async () => {
        closed.push('model');
        throw new Error('cannot close');
      },
    };
    await using served = await loaded(with_('instance_group { count: 3 }\n'), {
      backends: [{ name: 'fake', load: async () => model }],
    });
    expect(served.engine.index()).toMatchObject([{ version: '1', state: 'UNAVAILABLE', reason: 'out of memory' }]);
    expect(closed).toEqual(['bad_0_0', 'model']);
    expect(served.log.at('error')).toContain('cleaning up after a failed load: cannot close');
  });

  it('is tried again as often as asked', async () => {
    let calls = 0;
    const backend = new FakeBackend({ compute: addSub() });
    const load = backend.load.bind(backend);
    backend.load = (context) => (calls++ < 2 ? Promise.reject(new Error(`attempt ${calls}`)) : load(context));
    await using served = await loaded(GOOD, { backend, modelLoadRetryCount: 2 });
    expect(served.engine.isReady()).toBe(true);
    expect(served.log.at('warn')).toHaveLength(2);

    calls = -1;
    backend.load = () => Promise.reject(new Error(`attempt ${++calls}`));
    await using gaveUp = await loaded(GOOD, { backend, modelLoadRetryCount: 1 });
    expect(gaveUp.engine.index()).toMatchObject([{ state: 'UNAVAILABLE', reason: 'attempt 1' }]);
  });
});

describe('versions', () => {
  const versions = (policy: string): Tree => ({
    'good/config.pbtxt': `${ADD_SUB}${policy}`,
    ...Object.fromEntries(['1', '2', '3', '10'].map((version) => [`good/${version}/model.fake`, ''])),
  });

  it.each([
    ['', ['10']],
    ['version_policy { latest { num_versions: 2 } }', ['3', '10']],
    ['version_policy { all { } }', ['1', '2', '3', '10']],
    ['version_policy { specific { versions: [ 1, 3 ] } }', ['1', '3']],
  ])('under the policy "%s" are %j', async (policy, expected) => {
    await using served = await loaded(versions(policy));
    expect(served.engine.modelMetadata('good').versions).toEqual(expected);
    expect(served.engine.isReady()).toBe(true);
  });

  it('that a policy lists and that are absent are logged as errors and do not fail the others', async () => {
    await using served = await loaded(versions('version_policy { specific { versions: [ 1, 9 ] } }'));
    expect(served.engine.index()).toEqual([{ name: 'good', version: '1', state: 'READY' }]);
    expect(served.log.at('error')).toEqual([expect.stringMatching(/version 9 of model 'good' .* does not exist/)]);
  });

  it('with a fault leave the other versions of the model serving', async () => {
    await using served = await loaded({ ...versions('version_policy { all { } }'), 'good/11': { link: 'gone' } });
    expect(served.engine.modelMetadata('good').versions).toEqual(['1', '2', '3', '10']);
    expect(served.engine.index().at(-1)).toMatchObject({
      version: '11',
      state: 'UNAVAILABLE',
      reason: expect.stringContaining('broken link'),
    });
    expect((await ask(served.engine)).response?.modelVersion).toBe('10');
    expect(served.engine.isReady()).toBe(false);
  });

  it('ill-named are warned of', async () => {
    await using served = await loaded({ ...GOOD, 'good/01': null, 'good/old': null });
    expect(served.log.at('warn')).toEqual([
      expect.stringMatching(/\/good\/01' is ignored: its name has leading zeros/),
      expect.stringMatching(/\/good\/old' is ignored: its name is not a version number/),
    ]);
  });

  it('load at most as many at once as asked', async () => {
    const backend = new FakeBackend({ compute: addSub() });
    const load = backend.load.bind(backend);
    let loading = 0;
    let most = 0;
    backend.load = async (context) => {
      most = Math.max(most, ++loading);
      await new Promise(setImmediate);
      loading--;
      return load(context);
    };
    await using served = await loaded(versions('version_policy { all { } }'), { backend, modelLoadConcurrency: 2 });
    expect(served.backend.loadedModels).toHaveLength(4);
    expect(most).toBe(2);
  });
});

describe('what is left out without harm is said once', () => {
  it('response_cache', async () => {
    const config = `${ADD_SUB}response_cache { enable: true }`;
    await using served = await loaded({ 'good/config.pbtxt': config, 'good/1/model.fake': '' });
    expect(served.engine.isReady()).toBe(true);
    const warning = "model 'good': response_cache is not supported";
    expect(served.log.at('warn')).toEqual([expect.stringContaining(warning)]);
  });
});

describe('a load', () => {
  it('reads the configuration variant that was asked for', async () => {
    const tree = { ...GOOD, 'good/configs/big.pbtxt': ADD_SUB.replace('max_batch_size: 4', 'max_batch_size: 64') };
    await using served = await loaded(tree, { configName: 'big' });
    expect(served.engine.modelConfig('good').maxBatchSize).toBe(64);
  });

  it('without a configuration file needs a backend that completes one, and a file when one is required', async () => {
    const tree: Tree = { 'echo.fake/1/model.fake': '' };
    await using deduced = await loaded(tree);
    const reason = "model configuration is not provided for model 'echo.fake'";
    expect(deduced.engine.index()).toEqual([{ name: 'echo.fake', version: '1', state: 'UNAVAILABLE', reason }]);
    await using refused = await loaded(tree, { requireConfig: true });
    expect(refused.engine.index()).toEqual([
      { name: 'echo.fake', reason: expect.stringContaining("model 'echo.fake' has no config.pbtxt") },
    ]);
  });

  it('creates the instances of every group and names them', async () => {
    const config = `${ADD_SUB}instance_group [ { count: 2 }, { count: 1 passive: true } ]\n`;
    await using served = await loaded({ 'good/config.pbtxt': config, 'good/1/model.fake': '' });
    expect(served.engine.models()[0]?.instances.map(({ name, kind }) => [name, kind])).toEqual([
      ['good_0_0', 'KIND_CPU'],
      ['good_0_1', 'KIND_CPU'],
      ['good_1_0', 'KIND_CPU'],
    ]);
    await Promise.all(Array.from({ length: 6 }, () => ask(served.engine)));
    expect(new Set(served.backend.batches.map((batch) => batch.instance))).toEqual(new Set(['good_0_0', 'good_0_1']));
  });

  it('passes on how many threads each instance of a loaded version has, where the backend tells', async () => {
    const tree: Tree = { ...GOOD, 'told/config.pbtxt': ADD_SUB, 'told/1/model.fake': '', 'bad/config.pbtxt': 'x: 1\n' };
    await using served = await loaded(tree, { backend: new FakeBackend({ models: { told: { threads: 3 } } }) });
    expect(served.engine.models().map(({ name, threads }) => [name, threads])).toEqual([
      ['bad', undefined],
      ['good', undefined],
      ['told', 3],
    ]);
  });

  it('gives backends the absolute paths and the complete configuration', async () => {
    const backend = new FakeBackend({ compute: addSub() });
    const contexts: { modelDirectory: string; versionDirectory: string; config: ModelConfig }[] = [];
    await using served = await loaded(GOOD, {
      backends: [
        {
          name: 'fake',
          load: (context) => {
            contexts.push(context);
            return backend.load(context);
          },
        },
      ],
    });
    expect(contexts).toMatchObject([
      {
        modelDirectory: join(served.path, 'good'),
        versionDirectory: join(served.path, 'good', '1'),
        config: { name: 'good', instanceGroup: [{ name: 'good', kind: 'KIND_CPU', count: 1 }] },
      },
    ]);
  });

  it('of an empty repository makes the engine ready', async () => {
    await using served = serve({});
    expect(await served.engine.load()).toEqual({ isComplete: true, failures: [] });
    expect(served.engine.isReady()).toBe(true);
  });

  it('of a repository that is none reports the error, and the engine is neither live nor ready', async () => {
    const log = new RecordingLogger();
    const repository = new ModelRepository({ paths: ['/nonexistent/repository'] });
    await using engine = createEngine({ repository, backends: [], logger: log });
    const report = await engine.load();
    expect(report).toMatchObject({ isComplete: false, error: { code: 'INVALID_ARG', reason: 'not-a-directory' } });
    expect([engine.isLive(), engine.isReady(), engine.index()]).toEqual([false, false, []]);
    expect(log.at('error')).toEqual([expect.stringContaining('repository path is not a valid directory')]);
  });

  it('is done once, whoever asks', async () => {
    await using served = serve(GOOD);
    const [first, second] = await Promise.all([served.engine.load(), served.engine.load()]);
    expect(second).toBe(first);
    expect(served.log.at('info').filter((line) => line === 'loading: good:1')).toHaveLength(1);
  });
});
