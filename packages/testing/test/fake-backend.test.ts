import { type ExecutionReport, InferenceServerError, silentLogger } from '@nereid/core';
import { describe, expect, it } from 'vitest';
import {
  addSub,
  FakeBackend,
  identity,
  ManualClock,
  RecordingResponder,
  requestFor,
  tensor,
  valuesOf,
} from '../src/index.ts';

async function open(backend: FakeBackend, name = 'm') {
  const reports: ExecutionReport[] = [];
  const model = await backend.load({
    name,
    version: '1',
    modelDirectory: '/m',
    versionDirectory: '/m/1',
    config: undefined,
    instances: [],
    logger: silentLogger,
  });
  const spec = { name: `${name}_0`, kind: 'KIND_CPU', deviceId: 0 } as const;
  const instance = await model.createInstance({ spec, report: (report) => reports.push(report) });
  return { model, instance, reports };
}

const x = tensor({ name: 'x', values: [1, 2] });

describe('what a fake model computes', () => {
  it('is every input unchanged unless said otherwise', async () => {
    const { instance } = await open(new FakeBackend());
    const responder = new RecordingResponder();
    const request = requestFor({ inputs: [x], responder });
    await instance.execute([request]);
    const response = await responder.responseOf(request);
    expect(response).toMatchObject({ modelName: 'm', modelVersion: '1', outputs: [x] });
    expect(response.outputs[0]?.data).not.toBe(x.data);
  });

  it('can differ by model', async () => {
    const backend = new FakeBackend({ models: { renamed: { compute: identity(['y']) } } });
    for (const [model, output] of [
      ['plain', 'x'],
      ['renamed', 'y'],
    ] as const) {
      const responder = new RecordingResponder();
      const request = requestFor({ inputs: [x], responder });
      await (await open(backend, model)).instance.execute([request]);
      expect((await responder.responseOf(request)).outputs.map(({ name }) => name)).toEqual([output]);
    }
  });

  it.each([
    ['a missing input', [tensor({ name: 'a', values: [1] })], "takes FP32 input 'b', got none"],
    ['another datatype', [tensor({ name: 'a', datatype: 'INT32', values: [1] })], "takes FP32 input 'a', got INT32"],
    [
      'shapes that differ',
      [tensor({ name: 'a', values: [1] }), tensor({ name: 'b', values: [1, 2] })],
      'got [1] and [2]',
    ],
  ])('add-sub refuses %s', (_, inputs, message) => {
    expect(() => addSub()(requestFor({ inputs }))).toThrow(message);
  });

  it('add-sub adds and subtracts', () => {
    const inputs = [tensor({ name: 'l', values: [1, 2] }), tensor({ name: 'r', values: [10, 20] })];
    const outputs = addSub({ inputs: ['l', 'r'], outputs: ['s', 'd'] })(requestFor({ inputs }));
    expect(outputs.map((output) => [output.name, valuesOf(output)])).toEqual([
      ['s', [11, 22]],
      ['d', [-9, -18]],
    ]);
  });
});

describe('the time that a fake takes', () => {
  it('passes on the clock, one batch after another', async () => {
    const clock = new ManualClock();
    const { instance, reports } = await open(new FakeBackend({ clock, serviceMicros: 100, capacity: 2 }));
    const requests = [requestFor(), requestFor()];
    for (const request of requests) void instance.execute([request]);
    await clock.elapse(100);
    expect(requests.map((request) => request.isDone)).toEqual([true, false]);
    await clock.elapse(100);
    expect(requests.map((request) => request.isDone)).toEqual([true, true]);
    expect(reports.map(({ computeInferNs }) => computeInferNs)).toEqual([100_000, 100_000]);
  });

  it('may depend on the batch', async () => {
    const clock = new ManualClock();
    const { instance } = await open(new FakeBackend({ clock, serviceMicros: (batch) => batch.length * 10 }));
    const batch = [requestFor(), requestFor(), requestFor()];
    void instance.execute(batch);
    await clock.elapse(29);
    expect(batch[0]?.isDone).toBe(false);
    await clock.elapse(1);
    expect(batch[0]?.isDone).toBe(true);
  });

  it('passes within the call when it runs inline', async () => {
    const clock = new ManualClock();
    const { instance } = await open(new FakeBackend({ clock, serviceMicros: 100, inline: true }));
    const request = requestFor();
    instance.executeInline?.([request]);
    expect([request.isDone, clock.nowMicros()]).toEqual([true, 100]);
  });

  it.each([{ serviceMicros: 5 }, { serviceMicros: () => 0 }, { models: { m: { serviceMicros: 5 } } }])(
    'needs a clock: %o',
    (options) => {
      expect(() => new FakeBackend(options)).toThrow('serviceMicros needs a clock');
    },
  );
});

describe('failures on request', () => {
  it('fail the next batches, one each', async () => {
    const backend = new FakeBackend();
    const { instance, reports } = await open(backend);
    const responder = new RecordingResponder();
    backend.failNextBatch(new InferenceServerError('INTERNAL', 'one'));
    backend.failNextBatch(new InferenceServerError('UNAVAILABLE', 'two'));
    for (let i = 0; i < 3; i++) await instance.execute([requestFor({ responder })]);
    expect(responder.answers.map(({ error }) => error?.message)).toEqual(['one', 'two', undefined]);
    expect(reports).toHaveLength(1);
  });

  it('fail the load of a model', async () => {
    const loadFailure = new InferenceServerError('INVALID_ARG', 'truncated archive');
    const backend = new FakeBackend({ models: { bad: { loadFailure } } });
    await expect(open(backend, 'bad')).rejects.toBe(loadFailure);
    expect(backend.loadedModels).toEqual([]);
  });

  it("include the model's own check of a request", async () => {
    const validate = () => {
      throw new InferenceServerError('INVALID_ARG', 'out of range');
    };
    const { model } = await open(new FakeBackend({ validate }));
    expect(() => model.validate?.(requestFor())).toThrow('out of range');
    expect((await open(new FakeBackend())).model.validate).toBeUndefined();
  });
});

describe('what a fake remembers', () => {
  it('is every batch, with instance and way', async () => {
    const backend = new FakeBackend({ inline: true });
    const { instance } = await open(backend);
    const requests = [requestFor(), requestFor()];
    await instance.execute(requests);
    const alone = requestFor();
    instance.executeInline?.([alone]);
    expect(backend.batches).toEqual([
      { model: 'm', version: '1', instance: 'm_0', requests, inline: false },
      { model: 'm', version: '1', instance: 'm_0', requests: [alone], inline: true },
    ]);
  });

  it('is what is loaded and open', async () => {
    const backend = new FakeBackend();
    const { model, instance } = await open(backend);
    expect([backend.loadedModels, backend.instanceCount]).toEqual([['m/1'], 1]);
    await instance.close();
    await instance.close();
    expect(backend.instanceCount).toBe(0);
    await model.close();
    expect(backend.loadedModels).toEqual([]);
  });
});

describe('a defect of the caller is an error, not looked away from:', () => {
  it('more batches than the capacity', async () => {
    const { instance } = await open(new FakeBackend({ capacity: 1 }));
    const first = instance.execute([requestFor()]);
    await expect(instance.execute([requestFor()])).rejects.toThrow("instance 'm_0' takes 1 batches at a time");
    await first;
  });

  it('an empty batch, and a batch after close', async () => {
    const { instance } = await open(new FakeBackend());
    await expect(instance.execute([])).rejects.toThrow('a batch without requests');
    await instance.close();
    await expect(instance.execute([requestFor()])).rejects.toThrow('a batch after close()');
  });

  it('running inline beside another batch', async () => {
    const { instance } = await open(new FakeBackend({ inline: true }));
    const first = instance.execute([requestFor()]);
    expect(() => instance.executeInline?.([requestFor()])).toThrow('inline while a batch is in flight');
    await first;
  });

  it('closing a model before its instances', async () => {
    const { model } = await open(new FakeBackend());
    await expect(model.close()).rejects.toThrow("model 'm/1' was closed before 1 of its instances");
  });

  it('releasing a response twice', async () => {
    const { instance } = await open(new FakeBackend());
    const responder = new RecordingResponder();
    const request = requestFor({ id: 'r', responder });
    await instance.execute([request]);
    const { release } = await responder.responseOf(request);
    release?.();
    expect(() => release?.()).toThrow("response of request 'r' was released twice");
  });
});
