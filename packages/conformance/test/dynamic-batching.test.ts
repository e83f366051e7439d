/**
 * What the dynamic batcher promises, on real models. Nothing here depends on how long anything takes but for `LONG`, beside which everything else
 * is short; what is compared is order.
 */
import type { InferenceRequest } from '@nereid/core';
import { tensor, valuesOf } from '@nereid/testing';
import { describe, expect, test } from 'vitest';
import { type RealEngine, serveReal } from '../src/real-engine.ts';

const HEAD = 'backend: "pytorch"\nplatform: "pytorch_libtorch"\n';
const ADD_SUB = `${HEAD}max_batch_size: 8
input [ { name: "a" data_type: TYPE_FP32 dims: [ -1 ] }, { name: "b" data_type: TYPE_FP32 dims: [ -1 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ -1 ] }, { name: "OUTPUT__1" data_type: TYPE_FP32 dims: [ -1 ] } ]
`;
const SPINNING = `${HEAD}max_batch_size: 8
input [ { name: "rounds" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 1 ] } ]
`;
/** Rounds of the spinning model that take some tenths of a second. */
const LONG = 100_000;

const addSub = (addition: string, scheduler = {}) =>
  serveReal({ name: 'addsub', file: 'addsub/model.pt', config: ADD_SUB + addition }, scheduler);
const spinning = (addition: string) =>
  serveReal({ name: 'spinning', file: 'spinning/model.pt', config: SPINNING + addition });
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Rows `first`, `first + 1` … of equal width, and what add-sub makes of them. */
function addSubRows(first: number, { rows = 1, width = 3 } = {}) {
  const values = Array.from({ length: rows * width }, (_, i) => first + i / 8);
  const squares = values.map((value) => value * value);
  const shape = [rows, width];
  return {
    inputs: [tensor({ name: 'a', values, shape }), tensor({ name: 'b', values: squares, shape })],
    expected: [
      values.map((value) => Math.fround(Math.fround(value) + Math.fround(value * value))),
      values.map((value) => Math.fround(Math.fround(value) - Math.fround(value * value))),
    ],
  };
}

function spin(
  model: RealEngine,
  id: string,
  init: Partial<Parameters<RealEngine['send']>[0]> & { rounds?: number } = {},
) {
  const { rounds = 1, ...more } = init;
  return model.send({ id, inputs: [tensor({ name: 'rounds', values: [rounds], shape: [1, 1] })], ...more });
}

const allAnswered = (model: RealEngine, requests: readonly InferenceRequest[]) =>
  Promise.all(requests.map((request) => model.responder.finalOf(request)));

describe('a coalesced batch', () => {
  test('gives every request what it gets alone, whatever came together', async () => {
    await using model = await addSub('dynamic_batching { }\n');
    const sent = Array.from({ length: 60 }, (_, i) => {
      const { inputs, expected } = addSubRows(i, { rows: 1 + (i % 4), width: 2 + Math.floor(i / 20) });
      return { request: model.send({ inputs }), expected };
    });
    for (const { request, expected } of sent) {
      const { outputs } = await model.responder.responseOf(request);
      expect(outputs.map(valuesOf)).toEqual(expected);
      expect(outputs[0]?.shape).toEqual(request.inputs[0]?.shape);
    }
    const [statistics] = model.engine.statistics('addsub');
    expect(statistics?.executionCount).toBeLessThan(40);
    expect(statistics?.batches.some(({ batchSize }) => batchSize > 4)).toBe(true);
    expect(statistics?.batches.every(({ batchSize }) => batchSize <= 8)).toBe(true);
    expect(statistics?.batching?.closed['shape-change']).toBe(2);
  });

  test('of half the requests, beside the other half, gives them what they get alone', async () => {
    await using model = await addSub('dynamic_batching { }\n');
    const CLIENTS = 6;
    /** Far more than it takes until halves are tried. */
    const MOST_REQUESTS = 30_000;
    let sent = 0;
    const halves = () => model.engine.statistics('addsub')[0]?.batching?.closed['double-buffering'] ?? 0;
    const client = async () => {
      while (sent < MOST_REQUESTS && (sent % 100 !== 0 || halves() < 20)) {
        const { inputs, expected } = addSubRows(sent++);
        const { outputs } = await model.responder.responseOf(model.send({ inputs }));
        expect(outputs.map(valuesOf)).toEqual(expected);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    expect(halves()).toBeGreaterThanOrEqual(20);
    expect(model.responder.answers).toHaveLength(sent);
  });

  test('that the model refuses fails its requests and no others', async () => {
    const config = `${HEAD}max_batch_size: 4
input [ { name: "x" data_type: TYPE_FP32 dims: [ 2 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 2 ] } ]
dynamic_batching { }
`;
    await using model = await serveReal({ name: 'picky', file: 'golden_repository/picky/1/model.pt', config });
    const send = (id: string, value: number) =>
      model.send({ id, inputs: [tensor({ name: 'x', values: [value, 1], shape: [1, 2] })] });
    const first = [send('good', 1), send('bad', -1)];
    await allAnswered(model, first);
    await allAnswered(model, [send('next', 2)]);
    expect(model.answered()).toEqual(['good INTERNAL', 'bad INTERNAL', 'next']);
    expect(first.map(({ batch }) => batch?.batchSize)).toEqual([2, 2]);
  });
});

describe('batches', () => {
  test('form behind a busy instance without a delay', async () => {
    await using model = await spinning('dynamic_batching { }\n');
    const requests = [spin(model, 'long', { rounds: LONG })];
    await turn();
    for (const id of ['a', 'b', 'c']) {
      requests.push(spin(model, id));
      await turn();
    }
    await allAnswered(model, requests);
    expect(requests.map(({ batch }) => batch?.requestCount)).toEqual([1, 3, 3, 3]);
  });

  test('are sent at a preferred size, and held back for the whole delay below it', async () => {
    const delay = 30_000;
    await using model = await addSub(
      `dynamic_batching { preferred_batch_size: 4 max_queue_delay_microseconds: ${delay} }\n`,
    );
    const requests = Array.from({ length: 6 }, (_, i) => model.send({ inputs: addSubRows(i).inputs }));
    await allAnswered(model, requests);
    expect(requests.map(({ batch }) => `${batch?.requestCount} ${batch?.reason}`)).toEqual([
      ...Array(4).fill('4 preferred-size'),
      ...Array(2).fill('2 delay'),
    ]);
    const [, , , , held] = requests;
    expect(held && held.dispatchedMicros - held.arrivedMicros).toBeGreaterThanOrEqual(delay);
  });
});

describe('the queue', () => {
  test('refuses exactly those beyond max_queue_size', async () => {
    await using model = await spinning('dynamic_batching { default_queue_policy { max_queue_size: 3 } }\n');
    const requests = [spin(model, 'long', { rounds: LONG })];
    await turn();
    for (const id of ['a', 'b', 'c', 'd', 'e']) requests.push(spin(model, id));
    await allAnswered(model, requests);
    expect(model.answered()).toEqual(['d UNAVAILABLE', 'e UNAVAILABLE', 'long', 'a', 'b', 'c']);
  });

  test('rejects at the timeout, while the instance is busy', async () => {
    await using model = await spinning(
      'dynamic_batching { default_queue_policy { default_timeout_microseconds: 60000000 allow_timeout_override: true } }\n',
    );
    const requests = [spin(model, 'long', { rounds: LONG })];
    await turn();
    requests.push(spin(model, 'late', { timeoutMicroseconds: 2000 }), spin(model, 'patient'));
    await allAnswered(model, requests);
    expect(model.answered()).toEqual(['late UNAVAILABLE', 'long', 'patient']);
    expect(model.engine.statistics('spinning')[0]).toMatchObject({ executionCount: 2, fail: { count: 1 } });
  });

  test('delays those whose time is up', async () => {
    await using model = await spinning(`dynamic_batching {
  preferred_batch_size: 1
  default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 60000000 allow_timeout_override: true }
}
`);
    const requests = [spin(model, 'long', { rounds: LONG })];
    await turn();
    requests.push(spin(model, 'delayed', { timeoutMicroseconds: 1000 }), spin(model, 'fresh'));
    await allAnswered(model, requests);
    expect(model.answered()).toEqual(['long', 'fresh', 'delayed']);
  });

  test('serves a later request of a higher priority first', async () => {
    await using model = await spinning(
      'dynamic_batching { preferred_batch_size: 1 priority_levels: 2 default_priority_level: 2 }\n',
    );
    const requests = [spin(model, 'long', { rounds: LONG })];
    await turn();
    for (const id of ['low 1', 'low 2']) requests.push(spin(model, id));
    requests.push(spin(model, 'high', { priority: 1 }));
    await allAnswered(model, requests);
    expect(model.answered()).toEqual(['long', 'high', 'low 1', 'low 2']);
  });

  test('lets go of a cancelled request at once', async () => {
    await using model = await spinning('dynamic_batching { }\n');
    const requests = [spin(model, 'long', { rounds: LONG })];
    await turn();
    const cancelled = spin(model, 'cancelled');
    cancelled.cancel();
    await allAnswered(model, [...requests, cancelled]);
    expect(model.answered()).toEqual(['cancelled CANCELLED', 'long']);
    expect(model.engine.statistics('spinning')[0]?.executionCount).toBe(1);
  });
});

describe('over two instances', () => {
  const run = async (batching: string) => {
    await using model = await spinning(`dynamic_batching { ${batching} }\ninstance_group { count: 2 }\n`);
    const requests = [spin(model, 'long', { rounds: LONG })];
    await turn();
    for (const id of ['a', 'b']) {
      requests.push(spin(model, id));
      await turn();
    }
    await allAnswered(model, requests);
    return model.answered();
  };

  test('answers keep their order when preserve_ordering is set', async () => {
    expect(await run('preserve_ordering: true')).toEqual(['long', 'a', 'b']);
  });

  test('the quick one overtakes when it is not', async () => {
    expect(await run('')).toEqual(['a', 'b', 'long']);
  });
});

test('a stop answers everyone, also those that are held back', async () => {
  await using model = await addSub('dynamic_batching { max_queue_delay_microseconds: 60000000 }\n');
  const requests = Array.from({ length: 3 }, (_, i) => model.send({ inputs: addSubRows(i).inputs }));
  await turn();
  await model.engine.stop();
  expect(requests.map(({ batch, isDone }) => [batch?.reason, isDone])).toEqual(Array(3).fill(['stopping', true]));
});
