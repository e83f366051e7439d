import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type InstanceDemand,
  type LimitedInstance,
  RateLimitError,
  RateLimiter,
  type ResourceDemand,
  type ResourceLimit,
} from '../src/index.ts';

const one: ResourceDemand = { name: 'R', count: 1 };
const shared: ResourceDemand = { name: 'R', count: 1, global: true };

/** Instances that always want to run, each run as long as every other; the executions of each after so many in all. */
function compete(demands: readonly InstanceDemand[], executions: number): readonly number[] {
  const instances = new RateLimiter().register(demands);
  const counts = instances.map(() => 0);
  const running: number[] = [];
  const want = (i: number) => instances[i]?.stage(() => running.push(i));
  for (const i of instances.keys()) want(i);
  for (let done = 0; done < executions; done++) {
    const i = running.shift() ?? -1;
    counts[i] = (counts[i] ?? 0) + 1;
    instances[i]?.release(() => want(i));
  }
  return counts;
}

describe('turns', () => {
  it('are one at a time where there is enough for one', () => {
    const [a, b] = new RateLimiter().register([{ resources: [one] }, { resources: [one] }]);
    const started: string[] = [];
    a?.stage(() => started.push('a'));
    b?.stage(() => started.push('b'));
    expect(started).toEqual(['a']);
    a?.release();
    expect(started).toEqual(['a', 'b']);
  });

  it('are at once where nothing is short', () => {
    const [a, b, c] = new RateLimiter({ resources: [{ name: 'R', count: 2 }] }).register([
      { resources: [one] },
      { resources: [one] },
      {},
    ]);
    const started: string[] = [];
    for (const [name, instance] of Object.entries({ a, b, c })) instance?.stage(() => started.push(name));
    expect(started).toEqual(['a', 'b', 'c']);
  });

  it.each<[string, readonly number[], readonly number[]]>([
    ['priority 1 and 2: twice as many', [1, 2], [2000, 1000]],
    ['priority 0 is 1', [0, 1], [1500, 1500]],
    ['equal priorities: equally many', [3, 3, 3], [1000, 1000, 1000]],
    ['priority 1, 2 and 4', [1, 2, 4], [1714, 857, 429]],
  ])('in a long run go by priority: %s', (_, priorities, shares) => {
    const counts = compete(
      priorities.map((priority) => ({ priority, resources: [one] })),
      3000,
    );
    for (const [i, count] of counts.entries()) expect(Math.abs(count - (shares[i] ?? 0))).toBeLessThanOrEqual(2);
  });

  it('go to an instance that needs everything as often as to those that need little', () => {
    const limits = [{ name: 'R', count: 3 }];
    const instances = new RateLimiter({ resources: limits }).register([
      { resources: [{ name: 'R', count: 3 }] },
      ...Array.from({ length: 5 }, () => ({ resources: [one] })),
    ]);
    const counts = instances.map(() => 0);
    const running: number[] = [];
    const want = (i: number) => instances[i]?.stage(() => running.push(i));
    for (const i of [1, 2, 3, 4, 5, 0]) want(i);
    for (let done = 0; done < 6000; done++) {
      const i = running.shift() ?? -1;
      counts[i] = (counts[i] ?? 0) + 1;
      instances[i]?.release(() => want(i));
    }
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(10);
  });

  it('go to nobody while the first in turn is short of something, whoever needs nothing', () => {
    const [a, b, c] = new RateLimiter().register([{ resources: [one] }, { resources: [one] }, {}]);
    const started: string[] = [];
    a?.stage(() => started.push('a'));
    b?.stage(() => started.push('b'));
    c?.stage(() => started.push('c'));
    expect(started).toEqual(['a']);
    a?.release();
    expect(started).toEqual(['a', 'b', 'c']);
  });

  it('are not made up for after a pause', () => {
    const [busy, paused] = new RateLimiter().register([{ resources: [one] }, { resources: [one] }]);
    const order: string[] = [];
    const run = (name: string, instance: LimitedInstance | undefined) => instance?.stage(() => order.push(name));
    for (let i = 0; i < 1000; i++) {
      run('busy', busy);
      busy?.release();
    }
    order.length = 0;
    run('busy', busy);
    run('paused', paused);
    for (let i = 0; i < 6; i++) {
      const [name, instance] = order.at(-1) === 'busy' ? (['busy', busy] as const) : (['paused', paused] as const);
      instance?.release(() => run(name, instance));
    }
    expect(order.filter((name) => name === 'paused').length).toBeLessThanOrEqual(4);
    expect(order.filter((name) => name === 'busy').length).toBeGreaterThanOrEqual(3);
  });

  it('staged by a start come after those that were staged before', () => {
    const [a, b, c] = new RateLimiter({ resources: [{ name: 'R', count: 9 }] }).register([{}, {}, {}]);
    const order: string[] = [];
    a?.stage(() => {
      c?.stage(() => order.push('c'));
      b?.stage(() => order.push('b'));
      order.push('a');
    });
    expect(order).toEqual(['a', 'c', 'b']);
  });
});

describe('resources', () => {
  it.each<[string, readonly ResourceLimit[] | undefined, readonly InstanceDemand[], readonly string[]]>([
    [
      'as many as the instance demands that demands most',
      undefined,
      [{ resources: [one] }, { resources: [{ name: 'R', count: 4 }] }],
      ['R@0 4'],
    ],
    [
      'each device has its own',
      undefined,
      [{ resources: [one] }, { device: 1, resources: [{ name: 'R', count: 2 }] }],
      ['R@0 1', 'R@1 2'],
    ],
    [
      'a global one is one for all devices',
      undefined,
      [{ resources: [shared] }, { device: 1, resources: [{ ...shared, count: 2 }] }],
      ['R 2'],
    ],
    [
      'a limit without a device is for each',
      [{ name: 'R', count: 7 }],
      [{ resources: [one] }, { device: 1, resources: [one] }],
      ['R@0 7', 'R@1 7'],
    ],
    [
      'of a limit for the device and one for each the larger counts',
      [
        { name: 'R', count: 3 },
        { name: 'R', count: 5, device: 1 },
        { name: 'R', count: 2, device: 2 },
      ],
      [0, 1, 2].map((device) => ({ device, resources: [one] })),
      ['R@0 3', 'R@1 5', 'R@2 3'],
    ],
    [
      'a global one has the most of all limits, whatever their device',
      [
        { name: 'R', count: 3 },
        { name: 'R', count: 8, device: 4 },
      ],
      [{ resources: [shared] }],
      ['R 8'],
    ],
    [
      'names are the same in any case',
      [{ name: 'gpu', count: 3 }],
      [{ resources: [{ name: 'GPU', count: 2 }] }, { resources: [{ name: 'Gpu', count: 3 }] }],
      ['GPU@0 3'],
    ],
    ['demands of one name add up', undefined, [{ resources: [one, { name: 'r', count: 2 }] }], ['R@0 3']],
    [
      'a device is 0 where none is given',
      undefined,
      [{ resources: [one] }, { device: 0, resources: [one] }],
      ['R@0 1'],
    ],
  ])('%s', (_, resources, demands, expected) => {
    const limiter = new RateLimiter({ resources });
    limiter.register(demands);
    const said = limiter.resources.map(
      ({ name, device, limit }) => `${name}${device === undefined ? '' : `@${device}`} ${limit}`,
    );
    expect(said).toEqual(expected);
  });

  it('follow the instances that are there', () => {
    const limiter = new RateLimiter();
    const [small, large] = limiter.register([{ resources: [one] }, { resources: [{ name: 'R', count: 3 }] }]);
    expect(limiter.resources).toEqual([{ name: 'R', device: 0, limit: 3, allocated: 0 }]);
    large?.close();
    expect(limiter.resources).toEqual([{ name: 'R', device: 0, limit: 1, allocated: 0 }]);
    small?.close();
    expect(limiter.resources).toEqual([]);
  });

  it('that are staged for are given up by an instance that leaves', () => {
    const [first, second, third] = new RateLimiter().register(
      [1, 3, 1].map((count) => ({ resources: [{ name: 'R', count }] })),
    );
    const started: string[] = [];
    first?.stage(() => started.push('first'));
    second?.stage(() => started.push('second'));
    third?.stage(() => started.push('third'));
    expect(started).toEqual(['first']);
    second?.close();
    expect(started).toEqual(['first']);
    first?.release();
    expect(started).toEqual(['first', 'third']);
  });

  it.each<[string, readonly ResourceLimit[] | undefined, readonly (readonly InstanceDemand[])[], string, string]>([
    [
      'a limit that is too small',
      [{ name: 'R', count: 1 }],
      [[{ resources: [{ name: 'R', count: 2 }] }, { resources: [{ name: 'r', count: 4 }] }]],
      'too-few',
      'Resource count for "R" is limited to 1 on device 0, but an instance needs 4 to run: allow 4 at least, or let the instance demand fewer',
    ],
    [
      'a resource without a limit where others have one',
      [{ name: 'S', count: 1 }],
      [[{ resources: [shared] }]],
      'too-few',
      'Resource count for "R" is limited to 0, but an instance needs 1 to run: allow 1 at least, or let the instance demand fewer',
    ],
    [
      'a name that is global in one model and not in another',
      undefined,
      [[{ resources: [shared] }], [{ resources: [{ name: 'r', count: 1 }] }]],
      'mixed-scope',
      `Resource "r" is present as both global and device-specific: give it the same 'global' in every instance group, or two names`,
    ],
    [
      'a name that is both in one instance',
      undefined,
      [[{ resources: [one, shared] }]],
      'mixed-scope',
      `Resource "R" is present as both global and device-specific: give it the same 'global' in every instance group, or two names`,
    ],
  ])('refuses %s, and is as before', (_, resources, demands, reason, message) => {
    const limiter = new RateLimiter({ resources });
    for (const known of demands.slice(0, -1)) limiter.register(known);
    const before = limiter.resources;
    let thrown: unknown;
    try {
      limiter.register(demands.at(-1) ?? []);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(RateLimitError);
    expect(thrown).toMatchObject({ code: 'INVALID_ARG', reason, message });
    expect(limiter.resources).toEqual(before);
  });

  it.each([-1, 0.5, Number.NaN])('refuses a count of %f', (count) => {
    const message = `the count of resource 'R' must be a whole number from 0 on, got ${count}`;
    expect(() => new RateLimiter({ resources: [{ name: 'R', count }] })).toThrow(new RangeError(message));
    expect(() => new RateLimiter().register([{ resources: [{ name: 'R', count }] }])).toThrow(new RangeError(message));
  });
});

it('whatever happens, nothing is held twice, nobody is forgotten or passed over for long, and all is given back', () => {
  const demand = fc.record({
    device: fc.nat({ max: 1 }),
    priority: fc.nat({ max: 3 }),
    resources: fc.array(fc.record({ name: fc.constantFrom('a', 'b'), count: fc.nat({ max: 3 }) }), { maxLength: 2 }),
  });
  const moves = fc.array(fc.record({ which: fc.nat(), wants: fc.boolean() }), { maxLength: 200 });
  fc.assert(
    fc.property(fc.array(demand, { minLength: 1, maxLength: 6 }), moves, (demands, steps) => {
      const limiter = new RateLimiter();
      const instances = limiter.register(demands);
      const state = instances.map((): 'available' | 'staged' | 'allocated' => 'available');
      const passedOver = instances.map(() => 0);
      const stage = (i: number) => {
        state[i] = 'staged';
        passedOver[i] = 0;
        instances[i]?.stage(() => {
          expect(state[i]).toBe('staged');
          state[i] = 'allocated';
          for (const [j, other] of state.entries()) if (other === 'staged') passedOver[j] = (passedOver[j] ?? 0) + 1;
        });
      };
      const release = (i: number, again: boolean) => {
        state[i] = 'available';
        instances[i]?.release(() => {
          if (again) stage(i);
        });
      };
      for (const { which, wants } of steps) {
        const i = which % instances.length;
        if (state[i] === 'available') stage(i);
        else if (state[i] === 'allocated') release(i, wants);
        for (const { allocated, limit } of limiter.resources) expect(allocated).toBeLessThanOrEqual(limit);
        // Each of the others can have at most as many turns as its priority is above theirs, and one more.
        for (const count of passedOver) expect(count).toBeLessThanOrEqual(4 * instances.length);
      }
      for (let rounds = 0; rounds < instances.length && state.includes('staged'); rounds++) {
        for (const [i, is] of state.entries()) if (is === 'allocated') release(i, false);
      }
      for (const [i, is] of state.entries()) if (is === 'allocated') release(i, false);
      expect(state).toEqual(state.map(() => 'available'));
      for (const { allocated } of limiter.resources) expect(allocated).toBe(0);
    }),
    { numRuns: 500 },
  );
});
