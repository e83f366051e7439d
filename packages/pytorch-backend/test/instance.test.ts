import type { ExecutionReport, InferenceRequest, Responder } from '@nereid/core';
import {
  type Batch,
  type Instance,
  type InstanceOptions,
  type OutputTensor,
  openSequence,
  releaseSequence,
} from '@nereid/native';
import { RecordingResponder, requestFor, tensor } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { PyTorchInstance } from '../src/instance.ts';
import type { ModelPlan } from '../src/model-plan.ts';
import { CollectingLogger } from './collecting-logger.ts';

const FP32 = 11;

const PLAN: ModelPlan = {
  modelName: 'm',
  modelVersion: '1',
  engine: 'torchscript',
  maxBatchSize: 8,
  inputs: [{ spec: { name: 'x', datatype: 'FP32', dims: [-1], reshape: undefined }, key: '', declared: undefined }],
  outputs: [{ spec: { name: 'y', datatype: 'FP32', dims: [-1], reshape: undefined }, index: 0, key: '' }],
  isPlain: true,
};

/** Stands where the addon's instance does: keeps batches until the test completes them, or throws at once. */
class ScriptedInstance implements Instance {
  readonly batches: Batch[] = [];
  onComplete: InstanceOptions['onComplete'] = () => {};
  throws: Error | undefined;
  /** Width of each row that it returns. */
  width = 2;

  execute(batch: Batch): void {
    if (this.throws !== undefined) throw this.throws;
    this.batches.push(batch);
  }

  executeSync(batch: Batch) {
    this.execute(batch);
    return this.outcome(batch);
  }

  complete(): void {
    const batch = this.batches.shift();
    if (batch !== undefined) this.onComplete(undefined, this.outcome(batch));
  }

  outcome({ rows }: Batch) {
    const total = rows.reduce((sum, each) => sum + each, 0);
    const data = new Float32Array(total * this.width).map((_, i) => i).buffer;
    const outputs: OutputTensor[] = [{ datatype: FP32, shape: [total, this.width], data }];
    return { outputs, inputNs: 1, inferNs: 2, outputNs: 3 };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function open(
  options: {
    report?: (execution: ExecutionReport) => void;
    kind?: 'KIND_CPU' | 'KIND_GPU';
    maxBatchSize?: number;
  } = {},
) {
  const { report = () => {}, kind = 'KIND_CPU', maxBatchSize = PLAN.maxBatchSize } = options;
  const native = new ScriptedInstance();
  const logger = new CollectingLogger();
  const released: (readonly ArrayBuffer[])[] = [];
  const instance = new PyTorchInstance({
    plan: { ...PLAN, maxBatchSize },
    context: { spec: { name: 'm_0', kind, deviceId: 0 }, report },
    logger,
    open: (onComplete) => Object.assign(native, { onComplete }),
    releaseBuffers: (buffers) => released.push(buffers),
    memory: { openSequence, releaseSequence },
    dispose: () => Promise.resolve(),
  });
  return { native, logger, released, instance };
}

function request(rows: number, responder: Responder = new RecordingResponder(), id = ''): InferenceRequest {
  return requestFor({
    id,
    responder,
    inputs: [tensor({ name: 'x', shape: [rows, 2], values: Array(rows * 2).fill(rows) })],
  });
}

describe('execute', () => {
  it('crosses once per batch, with the bytes of the requests themselves', async () => {
    const { native, instance } = open();
    const batch = [request(1), request(2)];
    const done = instance.execute(batch);
    const views = batch.map(({ inputs }) => inputs[0]?.data);
    expect(native.batches).toEqual([{ buffers: views, rows: [1, 2], shapes: [2, 1, 2] }]);
    expect(native.batches[0]?.buffers.map((buffer) => buffer.buffer)).toEqual(views.map((view) => view?.buffer));
    native.complete();
    await done;
  });

  it('answers every request when the addon throws', async () => {
    const { native, instance } = open();
    native.throws = Object.assign(new Error('no thread'), { code: 'UNAVAILABLE' });
    const responder = new RecordingResponder();
    await instance.execute([request(1, responder), request(2, responder)]);
    expect(responder.answers.map(({ error }) => [error?.code, error?.message])).toEqual([
      ['UNAVAILABLE', 'PyTorch execute failure: no thread'],
      ['UNAVAILABLE', 'PyTorch execute failure: no thread'],
    ]);
    native.throws = undefined;
    const next = instance.execute([request(1, responder)]);
    native.complete();
    await next;
    expect(responder.answers.at(-1)?.response).toBeDefined();
  });

  it('answers every request when a result is missing', async () => {
    const { native, instance } = open();
    const responder = new RecordingResponder();
    const done = instance.execute([request(1, responder)]);
    native.onComplete(undefined, { outputs: [], inputNs: 0, inferNs: 0, outputNs: 0 });
    await done;
    expect(responder.answers[0]?.error?.message).toContain("the run gave no result for output 'y'");
  });

  it('answers the others when a listener throws', async () => {
    const { native, instance, logger } = open({
      report() {
        throw new Error('statistics broke');
      },
    });
    const responder = new RecordingResponder();
    const broken: Responder = {
      respond() {
        throw new Error('listener broke');
      },
      fail() {},
    };
    const done = instance.execute([request(1, broken), request(1, responder)]);
    native.complete();
    await done;
    expect(responder.answers).toHaveLength(1);
    expect(logger.lines).toEqual([
      'error: statistics of an execution could not be recorded',
      'error: a listener of an answer failed',
    ]);
  });

  it('drops cancelled requests before the run', async () => {
    const { native, instance } = open();
    const responder = new RecordingResponder();
    const [gone, kept] = [request(1, responder, 'gone'), request(2, responder, 'kept')];
    gone.cancel();
    const done = instance.execute([gone, kept]);
    expect(native.batches.map(({ rows }) => rows)).toEqual([[2]]);
    native.complete();
    await done;
    expect(responder.answers.map(({ error }) => error?.code)).toEqual(['CANCELLED', undefined]);
  });

  it('fails a request whose shape differs from that of the first', async () => {
    const { native, instance } = open();
    const responder = new RecordingResponder();
    const odd = requestFor({ responder, inputs: [tensor({ name: 'x', shape: [1, 3], values: [1, 2, 3] })] });
    const done = instance.execute([request(1, responder), odd]);
    native.complete();
    await done;
    expect(responder.answersOf(odd)[0]?.error?.message).toContain('another shape than in the batch');
    expect(responder.answers).toHaveLength(2);
  });

  it('does not run when nobody is left', async () => {
    const { native, instance } = open();
    const gone = request(1);
    gone.cancel();
    await instance.execute([gone]);
    await instance.execute([]);
    expect(native.batches).toEqual([]);
  });

  it('refuses work after close', async () => {
    const { instance } = open();
    await instance.close();
    const responder = new RecordingResponder();
    await instance.execute([request(1, responder)]);
    expect(responder.answers[0]?.error).toMatchObject({ code: 'UNAVAILABLE', reason: 'closed' });
  });
});

describe('release', () => {
  it('gives large buffers back with the last response of the batch, once', async () => {
    const { native, instance, released } = open();
    native.width = 1024;
    const responder = new RecordingResponder();
    const done = instance.execute([request(1, responder), request(1, responder)]);
    native.complete();
    await done;
    const [first, second] = responder.answers.map(({ response }) => response);
    expect(first?.outputs[0]?.data.buffer).toBe(second?.outputs[0]?.data.buffer);
    first?.release?.();
    first?.release?.();
    expect(released).toEqual([]);
    second?.release?.();
    expect(released).toEqual([[second?.outputs[0]?.data.buffer]]);
  });

  it('is absent for small results', async () => {
    const { native, instance } = open();
    const responder = new RecordingResponder();
    const done = instance.execute([request(1, responder)]);
    native.complete();
    await done;
    expect(responder.answers[0]?.response).toBeDefined();
    expect(responder.answers[0]?.response?.release).toBeUndefined();
  });
});

describe('executeInline', () => {
  it('queues behind work in flight rather than running beside it', async () => {
    const { native, instance } = open();
    const responder = new RecordingResponder();
    const running = instance.execute([request(1, responder, 'first')]);
    instance.executeInline?.([request(1, responder, 'second')]);
    expect(native.batches).toHaveLength(2);
    native.complete();
    native.complete();
    await running;
    expect(responder.answers.map((answer) => answer.request.id)).toEqual(['first', 'second']);
  });

  it('fails requests when the run throws', () => {
    const { native, instance } = open();
    native.throws = new Error('bad');
    const responder = new RecordingResponder();
    instance.executeInline?.([request(1, responder)]);
    expect(responder.answers[0]?.error).toMatchObject({ code: 'INTERNAL', message: 'PyTorch execute failure: bad' });
  });

  it('is absent on a GPU', () => {
    expect(open({ kind: 'KIND_GPU' }).instance.executeInline).toBeUndefined();
  });
});
