import { addSub, FakeBackend, ManualClock, RecordingResponder, valuesOf } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { ADD_SUB, addSubRequest, loaded, type ServeOptions } from './fixture.ts';

const SERVICE_MICROS = 1000;

/** The add-sub model with this in its configuration, each of whose executions takes a millisecond. */
async function served(addition: string, options: ServeOptions = {}) {
  const clock = new ManualClock(5000);
  const backend = new FakeBackend({ compute: addSub(), serviceMicros: SERVICE_MICROS, clock });
  const tree = { 'good/config.pbtxt': ADD_SUB + addition, 'good/1/model.fake': '' };
  const { engine, log, ...rest } = await loaded(tree, { ...options, clock, backend });
  const responder = new RecordingResponder();
  const send = (init: Parameters<typeof addSubRequest>[0] = {}) => {
    const request = addSubRequest({ responder, ...init });
    engine.infer(request);
    return request;
  };
  const sizes = () => backend.batches.map(({ requests }) => requests.length);
  const refusals = () =>
    responder.answers.flatMap(({ error, request }) => (error ? [`${request.id} ${error.message}`] : []));
  return { ...rest, engine, log, clock, send, sizes, responder, refusals };
}

describe('dynamic_batching', () => {
  it('joins requests, and each gets its own rows', async () => {
    await using model = await served('dynamic_batching { }\n');
    model.send({ id: 'a' });
    model.send({ id: 'b', rows: 2 });
    await model.clock.elapse(SERVICE_MICROS);
    expect(model.sizes()).toEqual([2]);
    const sums = model.responder.answers.map(({ response }) => response?.outputs[0] && valuesOf(response.outputs[0]));
    expect(sums).toEqual([
      [0, 2, 4],
      [0, 2, 4, 6, 8, 10],
    ]);
    expect(model.log.at('warn')).toEqual([]);
  });

  it('left out, each request runs by itself', async () => {
    await using model = await served('');
    for (let i = 0; i < 3; i++) model.send();
    await model.clock.elapse(3 * SERVICE_MICROS);
    expect(model.sizes()).toEqual([1, 1, 1]);
    expect(model.engine.statistics('good')[0]).not.toHaveProperty('batching');
  });

  it('holds batches back for max_queue_delay_microseconds', async () => {
    await using model = await served('dynamic_batching { max_queue_delay_microseconds: 300 }\n');
    const request = model.send();
    await model.clock.elapse(200);
    model.send();
    await model.clock.elapse(SERVICE_MICROS + 100);
    expect(model.sizes()).toEqual([2]);
    expect(request.dispatchedMicros - request.arrivedMicros).toBe(300);
  });

  it('honours preferred_batch_size', async () => {
    await using model = await served('dynamic_batching { preferred_batch_size: [ 2 ] }\n');
    for (let i = 0; i < 3; i++) model.send();
    await model.clock.elapse(2 * SERVICE_MICROS);
    expect(model.sizes()).toEqual([2, 1]);
  });

  it('honours queue policies by priority level', async () => {
    await using model = await served(`dynamic_batching {
  priority_levels: 2 default_priority_level: 2
  priority_queue_policy { key: 1 value { default_timeout_microseconds: 100 } }
  priority_queue_policy { key: 2 value { max_queue_size: 1 } }
}
`);
    model.send({ id: 'runs' });
    await model.clock.elapse(0);
    for (const id of ['waits', 'refused']) model.send({ id });
    model.send({ id: 'late', priority: 1 });
    await model.clock.elapse(100);
    expect(model.refusals()).toEqual([
      expect.stringMatching(/^refused Exceeds maximum queue size: 1 /),
      expect.stringMatching(/^late Request timeout expired/),
    ]);
    await model.clock.elapse(2 * SERVICE_MICROS);
    expect(model.responder.answers).toHaveLength(4);
  });

  it('keeps answers in order when preserve_ordering is set', async () => {
    const clock = new ManualClock();
    const backend = new FakeBackend({
      compute: addSub(),
      serviceMicros: ([first]) => (first?.id === 'slow' ? 4000 : 1000),
      clock,
    });
    const config = `${ADD_SUB}dynamic_batching { preserve_ordering: true }\ninstance_group { count: 2 }\n`;
    await using model = await loaded({ 'good/config.pbtxt': config, 'good/1/model.fake': '' }, { clock, backend });
    const responder = new RecordingResponder();
    model.engine.infer(addSubRequest({ id: 'slow', responder }));
    await clock.elapse(0);
    model.engine.infer(addSubRequest({ id: 'quick', responder }));
    await clock.elapse(2000);
    expect(responder.answers).toEqual([]);
    await clock.elapse(2000);
    expect(responder.answers.map(({ request }) => request.id)).toEqual(['slow', 'quick']);
  });

  it('has the queue limit of the engine where the configuration sets none', async () => {
    await using model = await served('dynamic_batching { }\n', { scheduler: { maxQueueSize: 2 } });
    model.send({ id: 'runs' });
    await model.clock.elapse(0);
    for (const id of ['a', 'b', 'c']) model.send({ id });
    expect(model.refusals()).toEqual([expect.stringMatching(/^c Exceeds maximum queue size: 2 /)]);
    await model.clock.elapse(2 * SERVICE_MICROS);
  });

  it('is shown in the statistics: sizes, and why batches were closed', async () => {
    await using model = await served('dynamic_batching { }\n');
    for (let i = 0; i < 5; i++) model.send();
    await model.clock.elapse(2 * SERVICE_MICROS);
    const [statistics] = model.engine.statistics('good');
    expect(statistics).toMatchObject({
      inferenceCount: 5,
      executionCount: 2,
      batches: [{ batchSize: 1 }, { batchSize: 4 }],
      batching: {
        sizes: [
          { batchSize: 1, count: 1 },
          { batchSize: 4, count: 1 },
        ],
        closed: { full: 1, 'instance-idle': 1, delay: 0 },
      },
    });
  });
});
