import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DefaultPolicy, type SchedulerAction } from '../src/default-policy.ts';

interface TestRequest {
  readonly id: number;
  isCancelled: boolean;
}
interface TestInstance {
  readonly name: string;
  capacity: number;
  load: number;
}

function policyOf(capacities: readonly number[], maxQueueSize = 0) {
  const instances = capacities.map((capacity, i): TestInstance => ({ name: `i${i}`, capacity, load: 0 }));
  return { instances, policy: new DefaultPolicy<TestRequest, TestInstance>({ instances, maxQueueSize }) };
}

const requestOf = (id: number): TestRequest => ({ id, isCancelled: false });

/** `7→i0`, `7 queue-full`, or nothing, for short expectations. */
function show(action: SchedulerAction<TestRequest, TestInstance> | undefined): string {
  if (action === undefined) return '';
  return action.type === 'dispatch'
    ? `${action.request.id}→${action.instance.name}`
    : `${action.request.id} ${action.reason}`;
}

describe('an arrival', () => {
  it.each([
    ['goes to the first of equal instances', [1, 1], 2, ['0→i0', '1→i1']],
    ['fills the least loaded instance first, up to its capacity', [2, 2], 5, ['0→i0', '1→i1', '2→i0', '3→i1', '']],
    ['uses what a larger instance has left', [1, 3], 4, ['0→i0', '1→i1', '2→i1', '3→i1']],
    ['waits when every slot is taken', [1], 3, ['0→i0', '', '']],
  ])('%s', (_, capacities, count, actions) => {
    const { policy } = policyOf(capacities);
    const got = Array.from({ length: count }, (_, id) =>
      show(policy.decide({ type: 'arrival', request: requestOf(id), exclusive: false })),
    );
    expect(got).toEqual(actions);
  });

  it('is refused when as many wait as may', () => {
    const { policy } = policyOf([1], 2);
    const got = [0, 1, 2, 3].map((id) =>
      show(policy.decide({ type: 'arrival', request: requestOf(id), exclusive: false })),
    );
    expect(got).toEqual(['0→i0', '', '', '3 queue-full']);
    expect(policy.queued).toBe(2);
  });

  it('is refused when it was cancelled before it came', () => {
    const { policy } = policyOf([1]);
    expect(show(policy.decide({ type: 'arrival', request: { id: 0, isCancelled: true }, exclusive: false }))).toBe(
      '0 cancelled',
    );
  });

  it('is refused after the stop, while those that wait still run', () => {
    const { policy, instances } = policyOf([1]);
    for (const id of [0, 1]) policy.decide({ type: 'arrival', request: requestOf(id), exclusive: false });
    expect(policy.decide({ type: 'stop' })).toBeUndefined();
    expect(show(policy.decide({ type: 'arrival', request: requestOf(2), exclusive: false }))).toBe('2 stopping');
    const [instance] = instances;
    expect(instance && show(policy.decide({ type: 'slot-free', instance }))).toBe('1→i0');
  });

  it('takes every slot of its instance when it is exclusive', () => {
    const { policy, instances } = policyOf([2]);
    const actions = [true, false, false].map((exclusive, id) =>
      show(policy.decide({ type: 'arrival', request: requestOf(id), exclusive })),
    );
    expect(actions).toEqual(['0→i0', '', '']);
    const [instance] = instances;
    expect(instance && [1, 2].map(() => show(policy.decide({ type: 'slot-free', instance })))).toEqual([
      '1→i0',
      '2→i0',
    ]);
  });
});

describe('an instance that is given more slots or fewer', () => {
  it('takes what waits as soon as that is asked for', () => {
    const { policy, instances } = policyOf([1]);
    const [instance] = instances;
    if (instance === undefined) throw new Error('unreachable');
    for (const id of [0, 1, 2, 3]) policy.decide({ type: 'arrival', request: requestOf(id), exclusive: false });
    instance.capacity = 3;
    expect([1, 2, 3].map(() => show(policy.decide({ type: 'continue' })))).toEqual(['1→i0', '2→i0', '']);
  });

  it('takes nothing while more runs than it may have', () => {
    const { policy, instances } = policyOf([3]);
    const [instance] = instances;
    if (instance === undefined) throw new Error('unreachable');
    for (const id of [0, 1, 2, 3]) policy.decide({ type: 'arrival', request: requestOf(id), exclusive: false });
    instance.capacity = 1;
    expect([1, 2, 3].map(() => show(policy.decide({ type: 'slot-free', instance })))).toEqual(['', '', '3→i0']);
  });
});

describe('a cancelled request that waits', () => {
  it('is rejected at once, makes room, and never runs', () => {
    const { policy, instances } = policyOf([1], 2);
    const requests = [0, 1, 2, 3].map(requestOf);
    for (const request of requests.slice(0, 3)) policy.decide({ type: 'arrival', request, exclusive: false });
    const [, second, , fourth] = requests;
    const [instance] = instances;
    if (second === undefined || fourth === undefined || instance === undefined) throw new Error('unreachable');
    second.isCancelled = true;
    expect(show(policy.decide({ type: 'cancel', request: second }))).toBe('1 cancelled');
    expect(policy.queued).toBe(1);
    expect(show(policy.decide({ type: 'arrival', request: fourth, exclusive: false }))).toBe('');
    expect([1, 2, 3].map(() => show(policy.decide({ type: 'slot-free', instance })))).toEqual(['2→i0', '3→i0', '']);
  });
});

describe('any history of events', () => {
  const event = fc.oneof(
    { weight: 4, arbitrary: fc.constant({ type: 'arrival' as const }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('free' as const), which: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('cancel' as const), which: fc.nat() }) },
    { weight: 1, arbitrary: fc.constant({ type: 'stop' as const }) },
  );
  const history = fc.record({
    capacities: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
    maxQueueSize: fc.integer({ min: 0, max: 5 }),
    events: fc.array(event, { maxLength: 120 }),
  });

  it('answers each request once, starts them in order, respects capacities and the limit, and leaves nobody behind', () => {
    fc.assert(
      fc.property(history, ({ capacities, maxQueueSize, events }) => {
        const { policy, instances } = policyOf(capacities, maxQueueSize);
        const slots = capacities.reduce((sum, capacity) => sum + capacity, 0);
        const waiting: TestRequest[] = [];
        const running: TestInstance[] = [];
        const outcomes = new Map<TestRequest, string>();
        let isStopped = false;

        const apply = (action: SchedulerAction<TestRequest, TestInstance> | undefined) => {
          if (action === undefined) return;
          expect(outcomes.has(action.request)).toBe(false);
          outcomes.set(action.request, action.type === 'dispatch' ? 'run' : action.reason);
          if (action.type === 'dispatch') running.push(action.instance);
        };
        const free = (which: number) => {
          const [instance] = running.splice(which % Math.max(running.length, 1), 1);
          if (instance === undefined) return;
          const action = policy.decide({ type: 'slot-free', instance });
          const next = waiting.shift();
          expect(action).toEqual(next && { type: 'dispatch', request: next, instance });
          apply(action);
        };
        const arrive = (request: TestRequest) => {
          const action = policy.decide({ type: 'arrival', request, exclusive: false });
          const expected = isStopped
            ? 'stopping'
            : running.length < slots
              ? 'run'
              : maxQueueSize > 0 && waiting.length >= maxQueueSize
                ? 'queue-full'
                : undefined;
          if (expected === undefined) waiting.push(request);
          apply(action);
          expect(outcomes.get(request)).toBe(expected);
        };

        for (const [id, happened] of events.entries()) {
          if (happened.type === 'arrival') arrive(requestOf(id));
          else if (happened.type === 'free') free(happened.which);
          else if (happened.type === 'stop') isStopped = policy.decide({ type: 'stop' }) === undefined;
          else {
            const [request] = waiting.splice(happened.which % Math.max(waiting.length, 1), 1);
            if (request === undefined) continue;
            request.isCancelled = true;
            apply(policy.decide({ type: 'cancel', request }));
            expect(outcomes.get(request)).toBe('cancelled');
          }
          expect(policy.queued).toBe(waiting.length);
          for (const instance of instances) {
            expect(instance.load).toBe(running.filter((other) => other === instance).length);
            expect(instance.load).toBeLessThanOrEqual(instance.capacity);
          }
          if (waiting.length > 0) expect(running).toHaveLength(slots);
        }
        while (running.length > 0) free(0);
        expect(policy.queued).toBe(0);
      }),
    );
  });
});
