import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { InferenceServerError } from '@nereid/core';
import { addSub, FakeBackend, ManualClock, RecordingResponder, requestFor } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { ADD_SUB, addSubRequest, ask, GOOD, loaded, serve, type Tree } from './fixture.ts';

/** Versions 1, 2 and 3, of which 2 does not load. */
const VERSIONS: Tree = {
  'good/config.pbtxt': `${ADD_SUB}version_policy { all { } }\n`,
  'good/1/model.fake': '',
  'good/2': { link: 'gone' },
  'good/3/model.fake': '',
};

describe('infer', () => {
  it('answers with the latest ready version and its outputs', async () => {
    await using served = await loaded(VERSIONS);
    const { response, final } = await ask(served.engine, { rows: 2, id: 'x' });
    expect(final).toBe(true);
    expect(response).toMatchObject({ modelName: 'good', modelVersion: '3' });
    expect(response?.outputs.map((output) => output.shape)).toEqual([
      [2, 3],
      [2, 3],
    ]);
  });

  it.each([
    ['', '3'],
    ['-1', '3'],
    ['1', '1'],
    ['3', '3'],
    ['001', '1'],
  ])('takes version "%s" as %s', async (version, expected) => {
    await using served = await loaded(VERSIONS);
    expect((await ask(served.engine, { modelVersion: version })).response?.modelVersion).toBe(expected);
  });

  it.each([
    ['nosuch', '', 'NOT_FOUND', "Request for unknown model: 'nosuch' is not found"],
    ['good', '9', 'NOT_FOUND', "Request for unknown model: 'good' version 9 is not found"],
    ['good', '2', 'UNAVAILABLE', /^Request for unknown model: 'good' version 2 is not at ready state: cannot read/],
    ['good', 'x', 'INVALID_ARG', "'x' is no version of model 'good'; a version is a decimal number"],
    ['broken', '', 'NOT_FOUND', /^Request for unknown model: 'broken' has no available versions: at least one version/],
    ['__proto__', '', 'NOT_FOUND', "Request for unknown model: '__proto__' is not found"],
  ])('refuses model %s version "%s" with %s, as every look-up does', async (modelName, version, code, message) => {
    await using served = await loaded({ ...VERSIONS, 'broken/config.pbtxt': ADD_SUB });
    const { engine } = served;
    const error = expect.objectContaining({
      code,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
    expect((await ask(engine, { modelName, modelVersion: version })).error).toEqual(error);
    expect(() => engine.modelMetadata(modelName, version)).toThrow(error);
    expect(() => engine.modelConfig(modelName, version)).toThrow(error);
    expect(() => engine.statistics(modelName, version)).toThrow(error);
    expect(() => engine.classification({ modelName, modelVersion: version }, new Map())).toThrow(error);
    expect(engine.isModelReady(modelName, version)).toBe(false);
  });

  it.each([
    ['7', '[request id: 7] unexpected inference output'],
    ['', '[request id: <id_unknown>] unexpected inference output'],
  ])('names the request "%s" when it refuses it', async (id, message) => {
    await using served = await loaded(GOOD);
    const { error } = await ask(served.engine, { id, requestedOutputs: ['nope'] });
    expect(error).toMatchObject({ code: 'INVALID_ARG', message: expect.stringContaining(message) });
    expect(served.backend.batches).toEqual([]);
  });

  it('refuses what the model file itself refuses', async () => {
    const validate = (): void => {
      throw new InferenceServerError('INVALID_ARG', 'x must be between 2 and 8');
    };
    await using served = await loaded(GOOD, { backend: new FakeBackend({ compute: addSub(), validate }) });
    expect((await ask(served.engine)).error?.message).toBe('[request id: <id_unknown>] x must be between 2 and 8');
  });

  it('answers a defect blandly and logs it whole', async () => {
    const validate = (): void => {
      throw new TypeError('secret detail');
    };
    await using served = await loaded(GOOD, { backend: new FakeBackend({ compute: addSub(), validate }) });
    const { error } = await ask(served.engine);
    expect(error).toMatchObject({ code: 'INTERNAL', message: 'internal error; the log has the details' });
    expect(served.log.at('error')).toEqual([expect.stringContaining('TypeError: secret detail')]);
  });

  it('does not run a request that was cancelled before', async () => {
    await using served = await loaded(GOOD);
    const responder = new RecordingResponder();
    const request = addSubRequest({ responder });
    request.cancel();
    served.engine.infer(request);
    expect((await responder.finalOf(request)).error).toMatchObject({ code: 'CANCELLED' });
    expect(served.backend.batches).toEqual([]);
  });

  it('survives a responder that throws, and counts the request', async () => {
    await using served = await loaded(GOOD);
    const bad = requestFor({
      modelName: 'nosuch',
      responder: {
        respond: () => {},
        fail: () => {
          throw new Error('socket gone');
        },
      },
    });
    served.engine.infer(bad);
    expect(served.log.at('error')).toEqual([expect.stringContaining('could not be delivered')]);
    expect((await ask(served.engine)).response).toBeDefined();
  });

  it('refuses with UNAVAILABLE what the queue does not hold', async () => {
    const clock = new ManualClock();
    const backend = new FakeBackend({ compute: addSub(), serviceMicros: 1000, clock });
    await using served = await loaded(GOOD, { clock, backend, scheduler: { maxQueueSize: 2 } });
    const responder = new RecordingResponder();
    for (let i = 0; i < 4; i++) served.engine.infer(addSubRequest({ responder }));
    await clock.elapse(10_000);
    const codes = responder.answers.map((answer) => answer.error?.code ?? 'OK').sort();
    expect(codes).toEqual(['OK', 'OK', 'OK', 'UNAVAILABLE']);
    expect(served.engine.statistics('good')[0]?.fail.count).toBe(1);
  });

  it('runs on the calling thread when asked to and the backend can', async () => {
    const backend = new FakeBackend({ compute: addSub(), inline: true });
    await using served = await loaded(GOOD, { backend, scheduler: { inline: { afterTurn: (turn) => turn() } } });
    for (let i = 0; i < 40; i++) {
      await ask(served.engine);
      await new Promise(setImmediate);
    }
    expect(backend.batches.some((batch) => batch.inline)).toBe(true);
  });
});

describe('readiness', () => {
  it('begins when the load is over', async () => {
    await using served = serve(GOOD);
    const { engine } = served;
    expect([engine.isLive(), engine.isReady()]).toEqual([false, false]);
    await engine.load();
    expect([engine.isLive(), engine.isReady(), engine.isModelReady('good')]).toEqual([true, true, true]);
  });

  it.each([
    [true, false],
    [false, true],
  ])('under strictReadiness %s with a version that failed is %s', async (strictReadiness, expected) => {
    await using served = await loaded(VERSIONS, { strictReadiness });
    const { engine } = served;
    expect([engine.isLive(), engine.isReady()]).toEqual([true, expected]);
    expect(['', '1', '2', '3', '4'].map((version) => engine.isModelReady('good', version))).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
  });
});

describe('metadata', () => {
  it('shows every ready version, platform, and tensors with the batch dimension', async () => {
    await using served = await loaded(VERSIONS);
    expect(served.engine.modelMetadata('good')).toEqual({
      name: 'good',
      versions: ['1', '3'],
      platform: 'fake',
      inputs: [
        { name: 'a', datatype: 'FP32', shape: [-1, 3] },
        { name: 'b', datatype: 'FP32', shape: [-1, 3] },
      ],
      outputs: [
        { name: 'sum', datatype: 'FP32', shape: [-1, 3] },
        { name: 'diff', datatype: 'FP32', shape: [-1, 3] },
      ],
    });
    expect(served.engine.modelMetadata('good', '1').versions).toEqual(['1']);
  });

  it('does not apply reshape, and has no batch dimension for a model that does not batch', async () => {
    const config =
      'backend: "fake"\nplatform: "own"\ninput { name: "x" data_type: TYPE_STRING dims: [ 4 ] reshape { shape: [ 2, 2 ] } }\n' +
      'output { name: "y" data_type: TYPE_INT8 dims: [ -1, 1 ] reshape { shape: [ -1 ] } }\n';
    await using served = await loaded({ 'good/config.pbtxt': config, 'good/1': null });
    expect(served.engine.modelMetadata('good')).toMatchObject({
      platform: 'own',
      inputs: [{ datatype: 'BYTES', shape: [4] }],
      outputs: [{ datatype: 'INT8', shape: [-1, 1] }],
    });
  });
});

describe('index', () => {
  it('is the union of what was loaded and what is listed now', async () => {
    await using served = await loaded({ ...VERSIONS, 'broken/config.pbtxt': '?' });
    mkdirSync(join(served.path, 'added', '1'), { recursive: true });
    expect(served.engine.index()).toEqual([
      { name: 'added' },
      { name: 'broken', reason: expect.stringMatching(/config\.pbtxt:1:1: /) },
      { name: 'good', version: '1', state: 'READY' },
      { name: 'good', version: '2', state: 'UNAVAILABLE', reason: expect.any(String) },
      { name: 'good', version: '3', state: 'READY' },
    ]);
    expect(served.engine.isModelReady('added')).toBe(false);
  });
});
