import { InferenceServerError } from '@nereid/core';
import { addSub, FakeBackend, ManualClock, RecordingResponder } from '@nereid/testing';
import { expect, it } from 'vitest';
import { ADD_SUB, addSubRequest, GOOD, loaded, type ServeOptions, type Tree } from './fixture.ts';

const SERVICE_MICROS = 1000;
const NONE = { REJECTED: 0, CANCELED: 0, BACKEND: 0, OTHER: 0 };

const QUEUE_POLICY = '{ default_timeout_microseconds: 100 }';
const WITH_TIMEOUT: Tree = {
  'good/config.pbtxt': `${ADD_SUB}dynamic_batching { default_queue_policy ${QUEUE_POLICY} }`,
  'good/1': null,
};

function served(clock: ManualClock, tree: Tree, scheduler: ServeOptions['scheduler']) {
  const compute: ReturnType<typeof addSub> = (request) => {
    if (request.id === 'breaks') throw new InferenceServerError('UNAVAILABLE', 'no memory left');
    if (request.id === 'stops') throw new InferenceServerError('CANCELLED', 'the model was told to stop');
    return addSub()(request);
  };
  const backend = new FakeBackend({ compute, serviceMicros: SERVICE_MICROS, clock });
  return loaded(tree, { clock, backend, scheduler: scheduler ?? {} });
}

it.each<
  [
    reason: keyof typeof NONE,
    what: string,
    id: string,
    tree: Tree,
    scheduler: ServeOptions['scheduler'],
    cancels: boolean,
  ]
>([
  ['REJECTED', 'waited as long as it may', 'late', WITH_TIMEOUT, {}, false],
  ['CANCELED', 'was cancelled while it waited', 'cancelled', GOOD, {}, true],
  ['CANCELED', 'the model gave up as cancelled', 'stops', GOOD, {}, false],
  ['BACKEND', 'failed in the model', 'breaks', GOOD, {}, false],
  ['OTHER', 'found the queue full', 'refused', GOOD, { maxQueueSize: 1 }, false],
])('is %s for a request that %s', async (reason, _, id, tree, scheduler, cancels) => {
  const clock = new ManualClock(1000);
  await using all = await served(clock, tree, scheduler);
  const responder = new RecordingResponder();
  const before = scheduler?.maxQueueSize === undefined ? ['runs'] : ['runs', 'waits'];
  for (const earlier of before) all.engine.infer(addSubRequest({ id: earlier, responder }));
  // Under a dynamic batcher those of one turn would share a batch.
  await clock.elapse(1);
  const request = addSubRequest({ id, responder });
  all.engine.infer(request);
  if (cancels) request.cancel();
  await clock.elapse(3 * SERVICE_MICROS);
  expect(responder.answers).toHaveLength(before.length + 1);
  expect(all.engine.statistics('good')).toMatchObject([
    { success: { count: before.length }, fail: { count: 1 }, failures: { ...NONE, [reason]: 1 } },
  ]);
});

it('a request that is refused before it is queued is counted nowhere', async () => {
  await using all = await served(new ManualClock(1000), GOOD, {});
  const responder = new RecordingResponder();
  all.engine.infer(addSubRequest({ responder, requestedOutputs: ['nope'] }));
  all.engine.infer(addSubRequest({ responder, modelName: 'nosuch' }));
  expect(responder.answers).toHaveLength(2);
  expect(all.engine.statistics('good')).toMatchObject([{ fail: { count: 0 }, failures: NONE }]);
});

it('requests are pending from the queue to an instance', async () => {
  const clock = new ManualClock(1000);
  await using all = await served(clock, GOOD, {});
  const responder = new RecordingResponder();
  const requests = ['runs', 'waits', 'waits'].map((id) => addSubRequest({ id, responder }));
  for (const request of requests) all.engine.infer(request);
  const pending = () => all.engine.statistics('good')[0]?.pending;
  expect(pending()).toBe(2);
  expect([all.engine.pendingRequests('good'), all.engine.pendingRequests('good', '1')]).toEqual([2, 2]);
  expect(() => all.engine.pendingRequests('good', '7')).toThrow('version 7 is not found');
  requests[2]?.cancel();
  expect(pending()).toBe(1);
  await clock.elapse(2 * SERVICE_MICROS);
  expect(pending()).toBe(0);
});

it('the load of a version is timed until it can serve, and its tags are those of the configuration', async () => {
  const clock = new ManualClock(1000);
  const fake = new FakeBackend({ compute: addSub() });
  const slow = {
    name: 'fake',
    load: async (context: Parameters<FakeBackend['load']>[0]) => {
      await clock.elapse(2_500_000);
      return fake.load(context);
    },
  };
  const config = `${ADD_SUB}metric_tags { key: "team" value: "search" }`;
  await using all = await loaded({ ...GOOD, 'good/config.pbtxt': config }, { clock, backends: [slow] });
  expect(all.engine.statistics('good')).toMatchObject([
    { loadSeconds: 2.5, metricTags: new Map([['team', 'search']]), pending: 0 },
  ]);
});
