import { InferenceServerError } from '@nereid/core';
import { addSub, FakeBackend, ManualClock, RecordingResponder } from '@nereid/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addSubRequest, GOOD, loaded } from './fixture.ts';

type Kind = 'ok' | 'refused' | 'fails' | 'cancelled';

const SERVICE_MICROS = 100;

it('counts every request once, in the right place, with exact times, for any mix under load', async () => {
  const call = fc.record({
    kind: fc.constantFrom<Kind>('ok', 'ok', 'refused', 'fails', 'cancelled'),
    rows: fc.integer({ min: 1, max: 4 }),
    gapMicros: fc.constantFrom(0, 0, 30, 250),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 25 }), async (calls) => {
      const clock = new ManualClock(1000);
      const compute: ReturnType<typeof addSub> = (request) => {
        if (request.id === 'fails') throw new InferenceServerError('INTERNAL', 'no');
        return addSub()(request);
      };
      const backend = new FakeBackend({ compute, serviceMicros: SERVICE_MICROS, clock });
      await using served = await loaded(GOOD, { clock, backend });
      const responder = new RecordingResponder();
      const started = Date.now();
      for (const { kind, rows, gapMicros } of calls) {
        await clock.elapse(gapMicros);
        const outputs = kind === 'refused' ? ['nope'] : [];
        const request = addSubRequest({ id: kind, rows, responder, requestedOutputs: outputs });
        served.engine.infer(request);
        if (kind === 'cancelled') request.cancel();
      }
      await clock.elapse(calls.length * SERVICE_MICROS + 1);

      const succeeded = responder.answers
        .filter((answer) => answer.error === undefined)
        .map((answer) => answer.request);
      const failed = responder.answers.filter(({ error, request }) => error !== undefined && request.id !== 'refused');
      expect(responder.answers).toHaveLength(calls.length);
      const [statistics] = served.engine.statistics('good');
      const queueMicros = succeeded.reduce(
        (sum, { dispatchedMicros, arrivedMicros }) => sum + dispatchedMicros - arrivedMicros,
        0,
      );
      const rows = succeeded.reduce((sum, request) => sum + request.batchSize, 0);
      const count = succeeded.length;
      const sizes = [...new Set(succeeded.map((request) => request.batchSize))].sort();
      expect(statistics).toMatchObject({
        name: 'good',
        version: '1',
        inferenceCount: rows,
        executionCount: count,
        success: { count, ns: (queueMicros + count * SERVICE_MICROS) * 1000 },
        queue: { count, ns: queueMicros * 1000 },
        computeInput: { count, ns: 0 },
        computeInfer: { count, ns: count * SERVICE_MICROS * 1000 },
        computeOutput: { count, ns: 0 },
        cacheHit: { count: 0, ns: 0 },
        cacheMiss: { count: 0, ns: 0 },
        fail: { count: failed.length },
        batches: sizes.map((batchSize) => {
          const executions = succeeded.filter((request) => request.batchSize === batchSize).length;
          return { batchSize, computeInfer: { count: executions, ns: executions * SERVICE_MICROS * 1000 } };
        }),
      });
      if (count === 0) expect(statistics?.lastInferenceMs).toBe(0);
      else expect(statistics?.lastInferenceMs).toBeGreaterThanOrEqual(started);
    }),
    { seed: 3, numRuns: 40 },
  );
});

it('a request that fails after its batch ran adds to fail alone', async () => {
  await using served = await loaded(GOOD, {
    backends: [
      {
        name: 'fake',
        load: async () => ({
          createInstance: async ({ spec, report }) => ({
            name: spec.name,
            capacity: 1,
            close: async () => {},
            execute: async (requests) => {
              report({ requests, batchSize: 1, computeInputNs: 1, computeInferNs: 2, computeOutputNs: 3 });
              for (const request of requests) {
                if (request.id === 'bad') request.fail(new InferenceServerError('INTERNAL', 'too few rows'));
                else request.respond({ modelName: 'good', modelVersion: '1', outputs: [] });
              }
            },
          }),
          close: async () => {},
        }),
      },
    ],
  });
  const responder = new RecordingResponder();
  for (const id of ['bad', 'good', 'bad']) {
    const request = addSubRequest({ id, responder });
    served.engine.infer(request);
    await responder.finalOf(request);
  }
  expect(served.engine.statistics('good', '1')).toMatchObject([
    {
      executionCount: 3,
      inferenceCount: 1,
      success: { count: 1 },
      fail: { count: 2 },
      computeInput: { count: 1, ns: 1 },
      computeInfer: { count: 1, ns: 2 },
      computeOutput: { count: 1, ns: 3 },
      batches: [{ batchSize: 1, computeInfer: { count: 3, ns: 6 } }],
    },
  ]);
});

it('statistics without a name are those of every ready version, ascending', async () => {
  const tree = { ...GOOD, 'b/config.pbtxt': GOOD['good/config.pbtxt'] ?? '', 'b/2': null, 'b/10': null };
  const policy = `${tree['b/config.pbtxt']}version_policy { all { } }`;
  await using served = await loaded({ ...tree, 'b/config.pbtxt': policy });
  expect(served.engine.statistics().map(({ name, version }) => `${name}/${version}`)).toEqual([
    'b/2',
    'b/10',
    'good/1',
  ]);
  expect(served.engine.statistics('b').map(({ version }) => version)).toEqual(['2', '10']);
});
