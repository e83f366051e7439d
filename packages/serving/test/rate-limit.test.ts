import { RateLimiter, type RateLimiterOptions } from '@nereid/batching';
import { addSub, FakeBackend, ManualClock, RecordingResponder } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { closeModel } from '../src/open-instance.ts';
import { placeInstances } from '../src/rate-limits.ts';
import { ADD_SUB, addSubRequest, loaded, type Served, type Tree } from './fixture.ts';

const SERVICE = 1000;

/** Instances of a model with these demands, written as in the configuration. */
const group = (resources: string, { count = 1, priority = 1, more = '' } = {}) =>
  `instance_group [ { count: ${count} kind: KIND_CPU ${more} rate_limiter { ${resources} priority: ${priority} } } ]\n`;
const ONE = 'resources [ { name: "R" count: 1 } ]';

function treeOf(models: Readonly<Record<string, string>>): Tree {
  return Object.fromEntries(
    Object.entries(models).flatMap(([name, config]) => [
      [`${name}/config.pbtxt`, ADD_SUB + config],
      [`${name}/1/model.fake`, ''],
    ]),
  );
}

/** An engine whose batches take `SERVICE` on a clock moved by hand. */
async function limited(
  models: Readonly<Record<string, string>>,
  { rateLimit }: { readonly rateLimit: RateLimiterOptions | undefined } = { rateLimit: {} },
) {
  const clock = new ManualClock();
  const backend = new FakeBackend({ compute: addSub(), clock, serviceMicros: SERVICE });
  const served = await loaded(treeOf(models), { backend, clock, rateLimit });
  const responder = new RecordingResponder();
  return {
    served,
    clock,
    responder,
    send: (modelName: string, count: number) => {
      for (let i = 0; i < count; i++) {
        const sequence = { correlationId: `${modelName}${i}`, sequenceStart: true, sequenceEnd: true };
        served.engine.infer(addSubRequest({ modelName, id: `${modelName}${i}`, responder, ...sequence }));
      }
    },
  };
}

/** Executions by model, in order of their begin. */
function executions({
  backend,
}: Served): readonly { readonly model: string; readonly start: number; readonly size: number }[] {
  return backend.batches.map(({ model, requests }) => ({
    model,
    start: requests[0]?.dispatchedMicros ?? Number.NaN,
    size: requests.length,
  }));
}

function countOf(served: Served, name: string): number {
  return executions(served).filter(({ model }) => model === name).length;
}

function expectNoOverlap(served: Served): void {
  const starts = executions(served).map(({ start }) => start);
  for (const [i, start] of starts.entries()) {
    if (i > 0) expect(start - (starts[i - 1] ?? 0)).toBeGreaterThanOrEqual(SERVICE);
  }
}

function reasons({ engine }: Served): Record<string, string | undefined> {
  return Object.fromEntries(engine.index().map(({ name, reason }) => [name, reason]));
}

describe('rate limit: models that share a resource', () => {
  it.each([
    ['plain', ''],
    ['batched', 'dynamic_batching { }\n'],
    ['sequences, direct', 'sequence_batching { }\n'],
    ['sequences, oldest', 'sequence_batching { oldest { max_candidate_sequences: 4 } }\n'],
  ])('never overlap, and answer every request: %s', async (_, scheduler) => {
    const { served, clock, responder, send } = await limited({
      a: scheduler + group(ONE, { count: 2 }),
      b: scheduler + group(ONE),
    });
    await using _served = served;
    send('a', 9);
    send('b', 5);
    await clock.elapse(20 * SERVICE);
    expectNoOverlap(served);
    expect(responder.answers.filter(({ error }) => error === undefined)).toHaveLength(14);
    expect(new Set(executions(served).map(({ model }) => model))).toEqual(new Set(['a', 'b']));
  });

  it('overlap where nothing limits them, whatever their configurations demand', async () => {
    const { served, clock, send } = await limited({ a: group(ONE), b: group(ONE) }, { rateLimit: undefined });
    await using _served = served;
    send('a', 1);
    send('b', 1);
    await clock.elapse(SERVICE);
    expect(executions(served).map(({ start }) => start)).toEqual([0, 0]);
  });

  it.each([
    ['priority 1 to 2', 1, 2, 1.8, 2.2],
    ['equal priorities', 5, 5, 0.9, 1.1],
  ])('run by priority: %s', async (_, one, other, least, most) => {
    const { served, clock, send } = await limited({
      a: group(ONE, { priority: one }),
      b: group(ONE, { priority: other }),
    });
    await using _served = served;
    send('a', 200);
    send('b', 200);
    await clock.elapse(200 * SERVICE);
    const ratio = countOf(served, 'a') / countOf(served, 'b');
    expect(ratio).toBeGreaterThan(least);
    expect(ratio).toBeLessThan(most);
    await clock.elapse(400 * SERVICE);
  });

  it('run in full batches', async () => {
    const batching = 'dynamic_batching { preferred_batch_size: [ 4 ] max_queue_delay_microseconds: 500 }\n';
    const { served, clock, send } = await limited({ a: batching + group(ONE), b: batching + group(ONE) });
    await using _served = served;
    send('a', 16);
    send('b', 16);
    await clock.elapse(10 * SERVICE);
    expect(
      executions(served)
        .map(({ model, size }) => `${model}${size}`)
        .sort()
        .join(' '),
    ).toBe('a4 a4 a4 a4 b4 b4 b4 b4');
    expectNoOverlap(served);
  });

  it('wait for a global one whichever device they are on, and not for that of another device', async () => {
    const clock = new ManualClock();
    const backend = new FakeBackend({ compute: addSub(), clock, serviceMicros: SERVICE });
    const on = (gpu: number, resource: string) =>
      `instance_group [ { kind: KIND_GPU gpus: [ ${gpu} ] rate_limiter { resources [ ${resource} ] } } ]\n`;
    const [shared, own] = ['{ name: "G" global: true count: 1 }', '{ name: "R" count: 1 }'];
    const tree = treeOf({ a: on(0, shared), b: on(1, shared), c: on(0, own), d: on(1, own) });
    await using served = await loaded(tree, { backend, clock, rateLimit: {}, gpus: [0, 1] });
    const times = async (...models: string[]) => {
      const before = backend.batches.length;
      for (const modelName of models) served.engine.infer(addSubRequest({ modelName }));
      await clock.elapse(5 * SERVICE);
      const starts = executions(served)
        .slice(before)
        .map(({ start }) => start);
      return starts.map((start) => start - (starts[0] ?? 0));
    };
    expect(await times('a', 'b')).toEqual([0, SERVICE]);
    expect(await times('c', 'd')).toEqual([0, 0]);
  });

  it('draw on device 0 when they run on the CPU, as those on GPU 0', async () => {
    const clock = new ManualClock();
    const backend = new FakeBackend({ compute: addSub(), clock, serviceMicros: SERVICE });
    const gpu = `instance_group [ { kind: KIND_GPU gpus: [ 0 ] rate_limiter { ${ONE} } } ]\n`;
    await using served = await loaded(treeOf({ a: group(ONE), b: gpu }), { backend, clock, rateLimit: {}, gpus: [0] });
    for (const modelName of ['a', 'b']) served.engine.infer(addSubRequest({ modelName }));
    await clock.elapse(3 * SERVICE);
    expect(executions(served).map(({ start }) => start)).toEqual([0, SERVICE]);
  });
});

describe('rate limit: a load', () => {
  it('fails when a limit is too small for an instance, and touches no other model', async () => {
    const { served, clock, responder, send } = await limited(
      { few: group(ONE), many: group('resources [ { name: "R" count: 3 } ]') },
      { rateLimit: { resources: [{ name: 'r', count: 2 }] } },
    );
    await using _served = served;
    expect(reasons(served)).toEqual({
      few: undefined,
      many: 'Resource count for "R" is limited to 2 on device 0, but an instance needs 3 to run: allow 3 at least, or let the instance demand fewer',
    });
    expect(served.backend.loadedModels).toEqual(['few/1']);
    send('few', 1);
    await clock.elapse(2 * SERVICE);
    expect(responder.answers.map(({ error }) => error)).toEqual([undefined]);
  });

  it('fails for a resource that is not listed where others are', async () => {
    const { served } = await limited({ a: group(ONE) }, { rateLimit: { resources: [{ name: 'S', count: 9 }] } });
    await using _served = served;
    expect(reasons(served).a).toContain('Resource count for "R" is limited to 0');
  });

  it('fails for a name that is global in one model and not in another', async () => {
    const { served } = await limited({ a: group(ONE), b: group('resources [ { name: "R" global: true count: 1 } ]') });
    await using _served = served;
    const failures = Object.values(reasons(served)).filter((reason) => reason !== undefined);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toContain('Resource "R" is present as both global and device-specific');
  });

  it('counts nothing for passive instances', async () => {
    const passive = `instance_group [ { kind: KIND_CPU }, { kind: KIND_CPU passive: true rate_limiter { ${ONE} } } ]\n`;
    const { served } = await limited({ a: passive }, { rateLimit: { resources: [] } });
    await using _served = served;
    expect(reasons(served)).toEqual({ a: undefined });
  });
});

it('rate limit: what a version demanded is free for others once it is closed, also what it never opened', async () => {
  const limiter = new RateLimiter();
  const rateLimiter = { priority: 1, resources: [{ name: 'R', global: false, count: 2 }] };
  const spec = { name: 'm_0', kind: 'KIND_CPU', deviceId: 0 } as const;
  const placed = placeInstances([{ spec, isPassive: false, rateLimiter }], limiter);
  expect(limiter.resources).toEqual([{ name: 'R', device: 0, limit: 2, allocated: 0 }]);
  const model = { createInstance: () => Promise.reject(new Error('not opened')), close: () => Promise.resolve() };
  await closeModel({ model, instances: [], limited: placed.flatMap(({ limited }) => limited ?? []) });
  expect(limiter.resources).toEqual([]);
});
