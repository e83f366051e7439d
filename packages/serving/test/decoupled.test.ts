import { type InferenceRequest, InferenceServerError, type Tensor } from '@nereid/core';
import { FakeBackend, type FakeModelOptions, ManualClock, RecordingResponder, tensor, valuesOf } from '@nereid/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ADD_SUB, addSubRequest, loaded, type Tree } from './fixture.ts';

const EVERY_MICROS = 100;

const tree = (more = ''): Tree => ({
  'good/config.pbtxt': `${ADD_SUB}model_transaction_policy { decoupled: true }\n${more}`,
  'good/1/model.fake': '',
});

const outputs = (value: number): Tensor[] => [tensor({ name: 'sum', values: [value, value, value], shape: [1, 3] })];
const broken = new InferenceServerError('INTERNAL', 'the model broke');

/** What a request asks of the model: `3` for so many responses, `3!` for a failure after them. */
const script = ({ id }: InferenceRequest) => [
  ...Array.from({ length: Number.parseInt(id, 10) }, (_, i) => outputs(i)),
  ...(id.endsWith('!') ? [broken] : []),
];

async function served(init: { readonly model?: FakeModelOptions; readonly config?: string } = {}) {
  const clock = new ManualClock(1);
  const responses = { of: script, everyMicros: EVERY_MICROS };
  const backend = new FakeBackend({ clock, responses, ...init.model });
  const engine = await loaded(tree(init.config), { backend, clock });
  const responder = new RecordingResponder();
  const send = (id: string) => {
    const request = addSubRequest({ id, responder });
    engine.engine.infer(request);
    return request;
  };
  const answers = () =>
    responder.answers.map(({ request, error, response, final }) =>
      [request.id, error?.code ?? (response ? 'data' : 'end'), ...(final ? ['final'] : [])].join(' '),
    );
  return { ...engine, clock, responder, send, answers };
}

const NEVER = { count: 0, ns: 0 };
const times = (count: number) => ({ count, ns: count * EVERY_MICROS * 1000 });

function responseStats(index: number, counts: { success?: number; fail?: number; empty?: number; cancel?: number }) {
  const { success = 0, fail = 0, empty = 0, cancel = 0 } = counts;
  return {
    index,
    computeInfer: times(success + fail),
    computeOutput: { count: success, ns: 0 },
    success: times(success),
    fail: times(fail),
    emptyResponse: times(empty),
    cancel: times(cancel),
  };
}

describe('a decoupled model', () => {
  it('answers each request with its responses in order, and the final mark after them', async () => {
    await using engine = await served();
    engine.send('2');
    await engine.clock.elapse(10 * EVERY_MICROS);
    expect(engine.answers()).toEqual(['2 data', '2 data', '2 end final']);
  });

  it('may answer without any response', async () => {
    await using engine = await served();
    engine.send('0');
    await engine.clock.elapse(10 * EVERY_MICROS);
    expect(engine.answers()).toEqual(['0 end final']);
  });

  it('takes the next requests while it answers, so that answers interleave', async () => {
    await using engine = await served();
    engine.send('2');
    engine.send('1');
    await engine.clock.elapse(10 * EVERY_MICROS);
    expect(engine.answers()).toEqual(['2 data', '1 data', '2 data', '1 end final', '2 end final']);
  });

  it('fails a request after some responses; the others go on', async () => {
    await using engine = await served();
    engine.send('1!');
    engine.send('2');
    await engine.clock.elapse(10 * EVERY_MICROS);
    expect(engine.answers()).toEqual(['1! data', '2 data', '1! INTERNAL final', '2 data', '2 end final']);
  });

  it('stops in the middle of a request that is cancelled', async () => {
    await using engine = await served();
    const request = engine.send('100');
    await engine.clock.elapse(2.5 * EVERY_MICROS);
    request.cancel();
    request.cancel();
    await engine.clock.elapse(10 * EVERY_MICROS);
    expect(engine.answers()).toEqual(['100 data', '100 data', '100 CANCELLED final']);
    expect(engine.engine.statistics('good')[0]).toMatchObject({ fail: { count: 1 }, failures: { CANCELED: 1 } });
  });

  it('makes no more responses than its instance may have unreleased', async () => {
    await using engine = await served({ model: { responses: { of: script, everyMicros: EVERY_MICROS, window: 2 } } });
    const request = engine.send('5');
    await engine.clock.elapse(10 * EVERY_MICROS);
    expect(engine.answers()).toHaveLength(2);
    engine.responder.answers[0]?.response?.release?.();
    await engine.clock.elapse(10 * EVERY_MICROS);
    expect(engine.answers()).toHaveLength(3);
    request.cancel();
    expect(engine.answers().at(-1)).toBe('5 CANCELLED final');
  });

  it('keeps the order of requests where that is promised, and lets those of the first pass at once', async () => {
    await using engine = await served({ config: 'dynamic_batching { preserve_ordering: true }\n' });
    engine.send('2');
    engine.send('1');
    await engine.clock.elapse(1.5 * EVERY_MICROS);
    expect(engine.answers()).toEqual(['2 data']);
    await engine.clock.elapse(10 * EVERY_MICROS);
    expect(engine.answers()).toEqual(['2 data', '2 data', '2 end final', '1 data', '1 end final']);
  });

  it('is drained before it is unloaded', async () => {
    await using engine = await served();
    engine.send('3');
    await engine.clock.elapse(1.5 * EVERY_MICROS);
    const stopping = engine.engine.stop({ timeoutMs: 5000 });
    await engine.clock.elapse(10 * EVERY_MICROS);
    expect(await stopping).toEqual({ isComplete: true, left: [] });
    expect(engine.answers().at(-1)).toBe('3 end final');
  });

  it('is told apart by the engine', async () => {
    await using engine = await served();
    expect(engine.engine.isDecoupled('good')).toBe(true);
    expect(engine.engine.isDecoupled('nosuch')).toBe(false);
  });

  it('counts responses by their position, with what became of each', async () => {
    await using engine = await served();
    for (const id of ['2', '0', '1!', '2']) engine.send(id);
    const cancelled = engine.send('9');
    await engine.clock.elapse(1.5 * EVERY_MICROS);
    cancelled.cancel();
    await engine.clock.elapse(10 * EVERY_MICROS);
    const [statistics] = engine.engine.statistics('good');
    expect(statistics?.responses).toEqual([
      responseStats(0, { success: 4, empty: 1 }),
      responseStats(1, { success: 2, fail: 1, cancel: 1 }),
      responseStats(2, { empty: 2 }),
    ]);
    expect(statistics).toMatchObject({ inferenceCount: 3, success: { count: 3 }, fail: { count: 2 } });
  });

  it('does not count the responses of warmup', async () => {
    const config = `model_warmup [ { name: "w" batch_size: 1 inputs [
      { key: "a" value: { data_type: TYPE_FP32 dims: [ 3 ] zero_data: true } },
      { key: "b" value: { data_type: TYPE_FP32 dims: [ 3 ] zero_data: true } } ] } ]\n`;
    const model = { responses: { of: () => [outputs(1), outputs(2)] } };
    await using engine = await served({ config, model });
    expect(engine.engine.statistics('good')[0]?.responses).toEqual([]);
  });

  it('counts responses of very long streams together at the end', async () => {
    const of = () => Array.from({ length: 10_002 }, () => outputs(0));
    await using engine = await served({ model: { responses: { of } } });
    engine.send('long');
    while (engine.answers().at(-1) !== 'long end final') await engine.clock.elapse(0);
    const responses = engine.engine.statistics('good')[0]?.responses ?? [];
    expect(responses).toHaveLength(10_000);
    expect(responses.at(-1)).toMatchObject({ success: { count: 3 }, emptyResponse: { count: 1 }, fail: NEVER });
  });
});

it('loses no response and answers no request twice, for any mix of lengths, failures and cancellations', async () => {
  const call = fc.record({
    responses: fc.integer({ min: 0, max: 6 }),
    breaks: fc.boolean(),
    gapMicros: fc.constantFrom(0, 50, 150),
    cancelMicros: fc.option(fc.constantFrom(0, 30, 250, 5000)),
  });
  const config = fc.constantFrom('', 'dynamic_batching { }\n', 'dynamic_batching { preserve_ordering: true }\n');
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 12 }), config, async (calls, batching) => {
      await using engine = await served({ config: batching });
      const requests: InferenceRequest[] = [];
      for (const { responses, breaks, gapMicros, cancelMicros } of calls) {
        await engine.clock.elapse(gapMicros);
        const request = engine.send(`${responses}${breaks ? '!' : ''}`);
        requests.push(request);
        if (cancelMicros !== null) engine.clock.at(engine.clock.nowMicros() + cancelMicros, () => request.cancel());
      }
      await engine.clock.elapse(10_000);
      for (const [i, request] of requests.entries()) {
        const answers = engine.responder.answersOf(request);
        expect(answers.map(({ final }) => final)).toEqual(answers.map((_, at) => at === answers.length - 1));
        const values = answers.flatMap(
          ({ response }) => response?.outputs.flatMap((output) => valuesOf(output)[0]) ?? [],
        );
        expect(values).toEqual(values.map((_, at) => at));
        const { responses = 0, breaks = false } = calls[i] ?? {};
        const code = answers.at(-1)?.error?.code;
        if (code !== 'CANCELLED') expect([values.length, code]).toEqual([responses, breaks ? 'INTERNAL' : undefined]);
      }
      const [statistics] = engine.engine.statistics('good');
      const finals = engine.responder.answers.filter(({ final }) => final);
      const succeeded = finals.filter(({ error }) => error === undefined).length;
      expect(finals).toHaveLength(calls.length);
      expect(statistics).toMatchObject({ success: { count: succeeded }, fail: { count: calls.length - succeeded } });
      const counted = statistics?.responses.reduce((sum, { success }) => sum + success.count, 0);
      expect(counted).toBe(engine.responder.answers.filter(({ response }) => response !== undefined).length);
    }),
    { seed: 15, numRuns: 40 },
  );
});
