import { InferenceServerError } from '@nereid/core';
import { FakeBackend, ManualClock, RecordingResponder, tensor } from '@nereid/testing';
import { expect, it, test } from 'vitest';
import { ADD_SUB, addSubRequest, GOOD, loaded, type Tree } from './fixture.ts';

const EVERY_MICROS = 5400;
const FAMILY = 'nv_inference_first_response_histogram_ms';

const tree = (buckets: string, family = FAMILY): Tree => ({
  'good/config.pbtxt': `${ADD_SUB}model_transaction_policy { decoupled: true }
model_metrics { metric_control { metric_identifier { family: "${family}" } histogram_options { buckets: [ ${buckets} ] } } }`,
  'good/1/model.fake': '',
});

function decoupled(clock: ManualClock): FakeBackend {
  const outputs = [tensor({ name: 'sum', values: [1, 1, 1], shape: [1, 3] })];
  const broken = new InferenceServerError('INTERNAL', 'the model broke');
  return new FakeBackend({
    clock,
    responses: { of: ({ id }) => (id === 'fails' ? [broken] : [outputs, outputs, outputs]), everyMicros: EVERY_MICROS },
  });
}

it('counts the first response of each request and no later one, failures included, into the buckets of the model', async () => {
  const clock = new ManualClock(1);
  const options = { backend: decoupled(clock), clock, measureFirstResponses: true };
  await using served = await loaded(tree('4.5, 5, 1000'), options);
  const responder = new RecordingResponder();
  for (const id of ['streams', 'fails']) {
    served.engine.infer(addSubRequest({ id, responder }));
    await clock.elapse(10 * EVERY_MICROS);
  }
  expect(responder.answers.filter(({ final }) => final)).toHaveLength(2);
  expect(served.engine.statistics()[0]?.firstResponseMs).toEqual({
    buckets: [
      { bound: 4.5, count: 0 },
      { bound: 5, count: 2 },
      { bound: 1000, count: 2 },
    ],
    count: 2,
    sum: 10,
  });
});

it('has the buckets 100, 500, 2000 and 5000 ms by default', async () => {
  const clock = new ManualClock(1);
  await using served = await loaded(GOOD, { clock, measureFirstResponses: true });
  const firstResponseMs = served.engine.statistics()[0]?.firstResponseMs;
  expect(firstResponseMs?.buckets.map(({ bound }) => bound)).toEqual([100, 500, 2000, 5000]);
});

test('a family that is no histogram is warned about', async () => {
  const clock = new ManualClock(1);
  const options = { backend: decoupled(clock), clock, measureFirstResponses: true };
  await using served = await loaded(tree('1', 'nosuch'), options);
  expect(served.log.at('warn')).toContain(`model_metrics: there is no histogram 'nosuch'; expected ${FAMILY}`);
});

test('nothing is measured unless it is asked for', async () => {
  await using served = await loaded(GOOD);
  expect(served.engine.statistics()[0]).not.toHaveProperty('firstResponseMs');
});
