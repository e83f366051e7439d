import type { InferenceRequest } from '@nereid/core';
import { addSub, FakeBackend, ManualClock, RecordingResponder } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { ADD_SUB, addSubRequest, loaded, type ServeOptions } from './fixture.ts';

const SERVICE_MICROS = 1000;
const IDLE_MICROS = 50_000;
const CONTROLS = `control_input [
  { name: "START" control [ { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } ] },
  { name: "ID" control [ { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 } ] } ]`;
const SEQUENCES = `sequence_batching { max_sequence_idle_microseconds: ${IDLE_MICROS} ${CONTROLS} }\n`;

interface SendInit {
  readonly start?: boolean;
  readonly end?: boolean;
  readonly rows?: number;
}

/** The add-sub model with this in its configuration, each of whose executions takes a millisecond. */
async function served(addition: string, options: ServeOptions = {}) {
  const clock = new ManualClock(5000);
  const backend = new FakeBackend({ compute: addSub(), serviceMicros: SERVICE_MICROS, clock });
  const tree = { 'good/config.pbtxt': ADD_SUB + addition, 'good/1/model.fake': '' };
  const { engine, ...rest } = await loaded(tree, { ...options, clock, backend });
  const responder = new RecordingResponder();
  const send = (correlationId: number | string, { start = false, end = false, ...init }: SendInit = {}) => {
    const sequence = { correlationId, sequenceStart: start, sequenceEnd: end };
    engine.infer(addSubRequest({ responder, id: String(correlationId), ...sequence, ...init }));
  };
  const answered = () =>
    responder.answers.map(({ request, error }) =>
      error ? `${request.id} ${error.code} ${error.message}` : request.id,
    );
  return { ...rest, engine, backend, clock, send, answered };
}

const controlNames = (request: InferenceRequest | undefined) => request?.turn?.controls.map(({ name }) => name);

describe('sequence_batching', () => {
  it('gives each request its controls, and runs the sequences of one batch in their rows', async () => {
    await using model = await served(SEQUENCES);
    for (const id of [1, 2]) model.send(id, { start: true });
    model.send(1, { end: true });
    model.send(2);
    model.send(2, { end: true });
    await model.clock.elapse(4 * SERVICE_MICROS);
    expect(model.backend.batches.map(({ requests }) => requests.map(({ id }) => id))).toEqual([
      ['1', '2'],
      ['1', '2'],
      ['', '2'],
    ]);
    expect(controlNames(model.backend.batches[0]?.requests[0])).toEqual(['START', 'ID']);
    expect(model.answered()).toEqual(['1', '2', '1', '2', '2']);
  });

  it('counts padding in the size of batches and not as inferences', async () => {
    await using model = await served(SEQUENCES);
    model.send(1, { start: true, end: true });
    model.send(2, { start: true });
    model.send(2, { end: true });
    await model.clock.elapse(3 * SERVICE_MICROS);
    const [statistics] = model.engine.statistics('good');
    expect(statistics).toMatchObject({ inferenceCount: 3, executionCount: 2, success: { count: 3 } });
    expect(statistics?.batches.map(({ batchSize, computeInfer }) => [batchSize, computeInfer.count])).toEqual([[2, 2]]);
    expect(statistics?.batching?.sizes).toEqual([{ batchSize: 2, count: 2 }]);
  });

  it.each<[string, number | string, SendInit, string]>([
    ['of two rows', 1, { start: true, rows: 2 }, 'must specify batch-size 1'],
    ['without a correlation ID', 0, { start: true }, 'must specify a non-zero or non-empty correlation ID'],
    ['without START', 1, {}, 'must specify the START flag'],
    ['with a string for a number', 'one', { start: true }, "sequence batching control 'ID' data-type is 'BYTES'"],
  ])('refuses a request %s with INVALID_ARG', async (_, id, init, message) => {
    await using model = await served(SEQUENCES);
    model.send(id, init);
    expect(model.answered()).toEqual([expect.stringContaining(`${id} INVALID_ARG`)]);
    expect(model.answered()[0]).toContain(message);
  });

  it('does not take control tensors from clients', async () => {
    await using model = await served(SEQUENCES);
    const responder = new RecordingResponder();
    const request = addSubRequest({ responder });
    const [a, b] = request.inputs;
    if (a === undefined || b === undefined) throw new Error('the add-sub model has two inputs');
    model.engine.infer(addSubRequest({ responder, inputs: [a, b, { ...a, name: 'START' }] }));
    expect(responder.answers[0]?.error?.message).toContain("'START'");
  });

  it('lets warmup samples bring controls', async () => {
    const input = (name: string, type: string, dims: number) =>
      `inputs { key: "${name}" value { data_type: ${type} dims: [ ${dims} ] zero_data: true } } `;
    const inputs =
      input('a', 'TYPE_FP32', 3) +
      input('b', 'TYPE_FP32', 3) +
      input('START', 'TYPE_INT32', 1) +
      input('ID', 'TYPE_UINT64', 1);
    const backend = new FakeBackend({ compute: addSub() });
    const config = `${ADD_SUB}${SEQUENCES}model_warmup { name: "w" batch_size: 1 ${inputs} }\n`;
    await using model = await loaded({ 'good/config.pbtxt': config, 'good/1/model.fake': '' }, { backend });
    expect(model.log.at('error')).toEqual([]);
    const [request] = backend.batches[0]?.requests ?? [];
    expect(request?.inputs.map(({ name, shape }) => [name, shape])).toEqual([
      ['a', [1, 3]],
      ['b', [1, 3]],
      ['START', [1, 1]],
      ['ID', [1, 1]],
    ]);
  });
});

describe('unloading while sequences are active', () => {
  it('refuses new sequences, takes those that continue until their END, and is then done', async () => {
    const model = await served(SEQUENCES);
    model.send(1, { start: true });
    await model.clock.elapse(2 * SERVICE_MICROS);
    let isStopped = false;
    const stopped = model.engine.stop().then(() => {
      isStopped = true;
    });
    model.send(2, { start: true });
    model.send(3);
    model.send(1);
    await model.clock.elapse(2 * SERVICE_MICROS);
    expect(isStopped).toBe(false);
    model.send(1, { end: true });
    await model.clock.elapse(2 * SERVICE_MICROS);
    expect(isStopped).toBe(true);
    expect(model.answered()).toEqual([
      '1',
      expect.stringMatching(/^2 UNAVAILABLE .*stopped accepting new inference requests/),
      expect.stringMatching(/^3 UNAVAILABLE/),
      '1',
      '1',
    ]);
    await stopped;
    await model[Symbol.asyncDispose]();
  });

  it('waits no longer than the idle time for a client that went away', async () => {
    const model = await served(SEQUENCES);
    model.send(1, { start: true });
    await model.clock.elapse(2 * SERVICE_MICROS);
    const stopped = model.engine.stop();
    await model.clock.elapse(IDLE_MICROS);
    expect(await stopped).toEqual({ isComplete: true, left: [] });
    model.send(1);
    expect(model.answered().at(-1)).toMatch(/^1 UNAVAILABLE/);
    await model[Symbol.asyncDispose]();
  });
});
