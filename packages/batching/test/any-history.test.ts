import { InferenceServerError } from '@nereid/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { dynamicFixture } from './dynamic-fixture.ts';

const send = fc.record({
  rows: fc.constantFrom(1, 1, 2, 4),
  shape: fc.constantFrom('A' as const, 'A' as const, 'B' as const),
  timeoutMicroseconds: fc.constantFrom(0, 60, 300),
  priority: fc.nat({ max: 3 }),
});
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('send' as const), init: send }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('cancel' as const), which: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('elapse' as const), micros: fc.nat({ max: 150 }) }) },
  { weight: 1, arbitrary: fc.constant({ type: 'fail' as const }) },
  { weight: 1, arbitrary: fc.constant({ type: 'stop' as const }) },
);
const history = fc.record({
  steps: fc.array(step, { maxLength: 60 }),
  instances: fc.integer({ min: 1, max: 3 }),
  capacity: fc.integer({ min: 1, max: 2 }),
  isInline: fc.boolean(),
  maxQueueDelayMicroseconds: fc.constantFrom(0, 100),
  preserveOrdering: fc.boolean(),
  regroupTurns: fc.constantFrom(0, 2, 6),
  levels: fc.constantFrom(0, 3),
  policy: fc.record({
    timeoutAction: fc.constantFrom('REJECT' as const, 'DELAY' as const),
    allowTimeoutOverride: fc.boolean(),
    maxQueueSize: fc.constantFrom(0, 4),
  }),
});

it('after any history everyone has one answer, in order where that was promised, and nothing is left', async () => {
  await fc.assert(
    fc.asyncProperty(
      history,
      async ({ steps, instances, capacity, isInline, levels, policy, regroupTurns, ...batching }) => {
        const priorityLevels = batching.preserveOrdering ? 0 : levels;
        const made = await dynamicFixture({
          instances,
          capacity,
          inline: isInline,
          regroupTurns,
          maxBatchSize: 4,
          serviceMicros: ([first]) => (Number(first?.id) % 3 === 0 ? 130 : 50),
          ...(isInline && { lane: {} }),
          dynamicBatching: {
            ...batching,
            priorityLevels,
            ...(priorityLevels > 0 && { defaultPriorityLevel: 2 }),
            defaultQueuePolicy: policy,
          },
        });
        const sent: ReturnType<typeof made.send>[] = [];
        for (const [id, action] of steps.entries()) {
          if (action.type === 'send') sent.push(made.send(id, action.init));
          else if (action.type === 'cancel') sent[action.which % Math.max(sent.length, 1)]?.cancel();
          else if (action.type === 'elapse') await made.clock.elapse(action.micros);
          else if (action.type === 'fail') made.backend.failNextBatch(new InferenceServerError('INTERNAL', 'failed'));
          else void made.scheduler.stop();
        }
        const stopped = made.scheduler.stop();
        await made.clock.elapse(200 * (sent.length + 1));
        await stopped;

        const { answers } = made.responder;
        expect(answers.map(({ request }) => Number(request.id)).sort((a, b) => a - b)).toEqual(
          sent.map(({ id }) => Number(id)),
        );
        if (batching.preserveOrdering) {
          const ran = answers.flatMap(({ request }) => (request.batch ? [Number(request.id)] : []));
          expect(ran).toEqual(ran.toSorted((a, b) => a - b));
        }
        expect([made.scheduler.queued, made.scheduler.executing, made.clock.pending]).toEqual([0, 0, 0]);
        const { sizes, closed } = made.scheduler.batching;
        const count = made.backend.batches.length;
        expect(sizes.reduce((sum, size) => sum + size.count, 0)).toBe(count);
        expect(Object.values(closed).reduce((sum, closings) => sum + closings, 0)).toBe(count);
        expect(Math.max(...sizes.map(({ batchSize }) => batchSize), 0)).toBeLessThanOrEqual(4);
      },
    ),
    { seed: 2, numRuns: 80 },
  );
});
