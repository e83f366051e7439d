import { InferenceServerError } from '@nereid/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LimitedModel, RateLimitedServer, type SchedulerKind, SERVICE } from './rate-limited-fixture.ts';

const one = { resources: [{ name: 'R', count: 1 }] };
const kinds: readonly (readonly [string, SchedulerKind])[] = [
  ['the default scheduler', {}],
  ['the dynamic batcher', { dynamic: {} }],
  ['the dynamic batcher with a delay', { dynamic: { maxQueueDelayMicroseconds: 50 } }],
  ['the sequence batcher, direct', { sequence: { direct: {} } }],
  ['the sequence batcher, oldest', { sequence: { oldest: { maxCandidateSequences: 4 } } }],
];

/** Sends requests that suit the scheduler: for sequences one of a single request each. */
function sendAll(model: LimitedModel, ids: readonly string[]): void {
  for (const id of ids) model.send(id, { correlationId: id, sequenceStart: true, sequenceEnd: true });
}

const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

describe.each(kinds)('under %s', (_, kind) => {
  it('two models that share a resource for one never overlap, and every request is answered once', async () => {
    const server = new RateLimitedServer();
    const [a, b] = [
      await server.open({ name: 'a', instances: [one, one], kind }),
      await server.open({ name: 'b', instances: [one], kind }),
    ];
    for (let round = 0; round < 10; round++) {
      sendAll(a, numbered(`a${round}.`, 5));
      sendAll(b, numbered(`b${round}.`, 3));
      await server.clock.elapse(130);
    }
    await server.clock.elapse(100 * SERVICE);
    for (const [i, { start }] of server.runs.entries()) {
      if (i > 0) expect(start).toBeGreaterThanOrEqual((server.runs[i - 1]?.start ?? 0) + SERVICE);
    }
    expect(server.responder.answers.map(({ request }) => request.id).sort()).toEqual(
      Array.from({ length: 10 }, (_, i) => [...numbered(`a${i}.`, 5), ...numbered(`b${i}.`, 3)])
        .flat()
        .sort(),
    );
    expect(server.limiter.resources).toEqual([{ name: 'R', device: 0, limit: 1, allocated: 0 }]);
  });

  it('a model of priority 1 runs twice as often as one of priority 2, while both have something to run', async () => {
    const server = new RateLimitedServer();
    const fast = await server.open({ name: 'fast', instances: [{ ...one, priority: 1 }], kind, maxBatchSize: 1 });
    const slow = await server.open({ name: 'slow', instances: [{ ...one, priority: 2 }], kind, maxBatchSize: 1 });
    sendAll(fast, numbered('f', 300));
    sendAll(slow, numbered('s', 300));
    await server.clock.elapse(300 * SERVICE);
    const count = (name: string) => server.runs.filter(({ instance }) => instance.startsWith(name)).length;
    expect(count('fast') / count('slow')).toBeGreaterThan(1.8);
    expect(count('fast') / count('slow')).toBeLessThan(2.2);
  });

  it('models of one priority run equally often', async () => {
    const server = new RateLimitedServer();
    const models = await Promise.all(
      ['a', 'b', 'c'].map((name) => server.open({ name, instances: [one], kind, maxBatchSize: 1 })),
    );
    for (const model of models) sendAll(model, numbered('r', 300));
    await server.clock.elapse(600 * SERVICE);
    const counts = ['a', 'b', 'c'].map(
      (name) => server.runs.filter(({ instance }) => instance.startsWith(name)).length,
    );
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThan(10);
    expect(Math.min(...counts)).toBeGreaterThan(190);
  });

  it('stop runs what waits for its turn', async () => {
    const server = new RateLimitedServer();
    const [a, b] = [
      await server.open({ name: 'a', instances: [one], kind }),
      await server.open({ name: 'b', instances: [one], kind }),
    ];
    sendAll(a, numbered('a', 4));
    sendAll(b, numbered('b', 4));
    let stopped = 0;
    for (const { scheduler } of [a, b]) void scheduler.stop().then(() => stopped++);
    await server.clock.elapse(20 * SERVICE);
    expect({ stopped, answers: server.responder.answers.length }).toEqual({ stopped: 2, answers: 8 });
  });
});

describe('an instance before the limiter', () => {
  it('is given one batch at a time, whatever it takes, and none inline', async () => {
    const server = new RateLimitedServer();
    const model = await server.open({ name: 'a', instances: [{}] });
    for (let i = 0; i < 100; i++) {
      model.send(`lone${i}`);
      await server.clock.elapse(SERVICE);
    }
    sendAll(model, numbered('r', 5));
    await server.clock.elapse(10 * SERVICE);
    expect(server.backend.batches.some(({ inline }) => inline)).toBe(false);
    const starts = server.runs.map(({ start }) => start);
    for (const [i, start] of starts.entries())
      if (i > 0) expect(start - (starts[i - 1] ?? 0)).toBeGreaterThanOrEqual(SERVICE);
  });

  it('is the one with the fewest turns of those that are free', async () => {
    const server = new RateLimitedServer();
    const model = await server.open({ name: 'a', instances: [{ priority: 2 }, { priority: 1 }] });
    for (let i = 0; i < 9; i++) {
      model.send(`r${i}`);
      await server.clock.elapse(SERVICE);
    }
    const count = (instance: string) => server.runs.filter((run) => run.instance === instance).length;
    expect([count('a_0'), count('a_1')]).toEqual([3, 6]);
  });

  it('lets the others run when it fails', async () => {
    const server = new RateLimitedServer();
    const [a, b] = [
      await server.open({ name: 'a', instances: [one] }),
      await server.open({ name: 'b', instances: [one] }),
    ];
    server.backend.failNextBatch(new InferenceServerError('INTERNAL', 'broken'));
    a.send('a');
    b.send('b');
    await server.clock.elapse(5 * SERVICE);
    expect(server.responder.answers.map(({ request, error }) => `${request.id} ${error?.code}`)).toEqual([
      'a INTERNAL',
      'b undefined',
    ]);
  });
});

describe('a dynamic batch that waits for its turn', () => {
  /** A batch of `first` waits behind a run of another model while `later` come one by one. */
  async function waitingBatch(first: number, later: number, dynamic = {}) {
    const server = new RateLimitedServer();
    const other = await server.open({ name: 'other', instances: [one] });
    const model = await server.open({ name: 'm', instances: [one], kind: { dynamic }, maxBatchSize: 8 });
    other.send('other');
    sendAll(model, numbered('r', first));
    await server.clock.elapse(10);
    for (let i = 0; i < later; i++) {
      model.send(`l${i}`);
      await server.clock.elapse(1);
    }
    await server.clock.elapse(10 * SERVICE);
    return { server, scheduler: model.scheduler, batches: server.runs.slice(1).map(({ ids }) => ids) };
  }

  it('takes along what came meanwhile, in order, and is one batch in the statistics', async () => {
    const { server, scheduler, batches } = await waitingBatch(1, 3);
    expect(batches).toEqual(['r0,l0,l1,l2']);
    const infos = new Set(server.responder.answers.slice(1).map(({ request }) => request.batch));
    expect([...infos]).toEqual([{ id: 1, reason: 'instance-idle', requestCount: 4, batchSize: 4, instance: 'm_0' }]);
    expect(scheduler).toMatchObject({ batching: { sizes: [{ batchSize: 4, count: 1 }] } });
  });

  it.each<[string, number, number, object, readonly string[]]>([
    ['the largest size', 2, 9, {}, ['r0,r1,l0,l1,l2,l3,l4,l5', 'l6,l7,l8']],
    ['the largest preferred size', 2, 3, { preferredBatchSize: [4] }, ['r0,r1,l0,l1', 'l2']],
    ['not beyond a preferred size that it has', 4, 2, { preferredBatchSize: [4, 8] }, ['r0,r1,r2,r3', 'l0,l1']],
    [
      'the largest size after the delay',
      2,
      3,
      { preferredBatchSize: [4], maxQueueDelayMicroseconds: 5 },
      ['r0,r1,l0,l1,l2'],
    ],
  ])('grows up to %s', async (_, first, later, dynamic, expected) => {
    expect((await waitingBatch(first, later, dynamic)).batches).toEqual(expected);
  });

  it('does not take along what was cancelled, nor what has other inputs', async () => {
    const server = new RateLimitedServer();
    const other = await server.open({ name: 'other', instances: [one] });
    const model = await server.open({ name: 'm', instances: [one], kind: { dynamic: {} } });
    other.send('other');
    model.send('r0');
    await server.clock.elapse(10);
    model.send('gone').cancel();
    model.send('l0');
    model.send('bare', { inputs: [] });
    model.send('l1');
    await server.clock.elapse(10 * SERVICE);
    expect(server.runs.slice(1).map(({ ids }) => ids)).toEqual(['r0,l0', 'bare', 'l1']);
  });

  it('keeps answers in order', async () => {
    const { server } = await waitingBatch(2, 5, { preserveOrdering: true });
    expect(server.responder.answers.map(({ request }) => request.id).join()).toBe('other,r0,r1,l0,l1,l2,l3,l4');
  });

  it('is full while others hold the resource', async () => {
    const server = new RateLimitedServer();
    const models = await Promise.all(
      ['a', 'b'].map((name) => server.open({ name, instances: [one], kind: { dynamic: {} } })),
    );
    for (let i = 0; i < 40; i++) {
      for (const model of models) model.send(`r${i}`);
      await server.clock.elapse(25);
    }
    await server.clock.elapse(30 * SERVICE);
    const sizes = server.runs.slice(2, -2).map(({ ids }) => ids.split(',').length);
    expect(new Set(sizes)).toEqual(new Set([4]));
  });
});

it('whatever comes, holdings stay within the limits, and everybody is answered', async () => {
  const arrivals = fc.array(
    fc.record({ model: fc.nat({ max: 4 }), pause: fc.nat({ max: 150 }), cancels: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 60,
    },
  );
  await fc.assert(
    fc.asyncProperty(arrivals, async (steps) => {
      const server = new RateLimitedServer({
        resources: [
          { name: 'R', count: 3 },
          { name: 'G', count: 1 },
        ],
      });
      const demand = (R: number, G: number) => ({
        resources: [
          { name: 'R', count: R },
          { name: 'G', count: G, global: true },
        ],
      });
      const demands = [
        [demand(1, 0), demand(2, 0)],
        [demand(3, 1)],
        [demand(0, 1), demand(1, 0)],
        [{}],
        [demand(2, 1)],
      ];
      const models = await Promise.all(
        kinds.map(([, kind], i) => server.open({ name: `m${i}`, instances: demands[i] ?? [], kind })),
      );
      for (const [i, { model, pause, cancels }] of steps.entries()) {
        const request = models[model]?.send(`${i}`, { correlationId: i + 1, sequenceStart: true, sequenceEnd: true });
        if (cancels) request?.cancel();
        await server.clock.elapse(pause);
        for (const { allocated, limit } of server.limiter.resources) expect(allocated).toBeLessThanOrEqual(limit);
      }
      await server.clock.elapse(100 * SERVICE);
      expect(server.responder.answers).toHaveLength(steps.length);
      for (const { allocated } of server.limiter.resources) expect(allocated).toBe(0);
    }),
    { numRuns: 30 },
  );
});
