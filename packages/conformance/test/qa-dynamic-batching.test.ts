/**
 * The cases that the original's quality suite holds its dynamic batcher to, through a server process and real models; batch sizes are those of the statistics.
 * Where it holds the scheduler back until so many requests wait, a request that spins keeps the instance busy here; "slow" is a batch that was closed for its delay.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BatchingClient, type Pending, sizesBetween } from '../src/batching-client.ts';
import { writeModelTree } from '../src/model-tree.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const HEAD =
  'backend: "pytorch"\nplatform: "pytorch_libtorch"\nparameters { key: "INTRA_OP_THREAD_COUNT" value { string_value: "1" } }\n';
const io = (kind: string, name: string, dims: string, more = '') =>
  `${kind} [ { name: "${name}" data_type: TYPE_FP32 dims: [ ${dims} ] ${more} } ]\n`;
const ADD_SUB =
  `${HEAD}max_batch_size: 8\n` +
  ['a', 'b'].map((name) => io('input', name, '-1')).join('') +
  ['OUTPUT__0', 'OUTPUT__1'].map((name) => io('output', name, '-1')).join('');
const SPINNING = `${HEAD}max_batch_size: 16\n${io('input', 'rounds', '1')}${io('output', 'OUTPUT__0', '1')}`;
const MASKED =
  `${HEAD}max_batch_size: 8\n` +
  ['x', 'mask', 'y', 'bias'].map((name) => io('input', name, '2', name.length > 1 ? 'optional: true' : '')).join('') +
  io('output', 'OUTPUT__0', '2');

/** Longest time that a batch is held back, in milliseconds. */
const DELAY = 300;
/** Rounds that keep an instance busy for a tenth of a second and more, beside which everything else is short. */
const LONG = 50_000;

const batching = (fields: string) => `dynamic_batching { ${fields} }\n`;
const delayed = (milliseconds: number) => `max_queue_delay_microseconds: ${milliseconds * 1000}`;
const policy = (fields: string) => batching(`default_queue_policy { ${fields} }`);
/** A timeout for those that state one. */
const OWN_TIMEOUT = 'default_timeout_microseconds: 60000000 allow_timeout_override: true';

/** Configurations by model, what they add and the file that they run. */
const MODELS: Readonly<Record<string, readonly [config: string, file: string]>> = {
  preferred: [ADD_SUB + batching(`preferred_batch_size: [ 2, 6 ] ${delayed(DELAY)}`), 'addsub/model.pt'],
  only_delay: [ADD_SUB + batching(delayed(DELAY)), 'addsub/model.pt'],
  optional: [MASKED + batching(delayed(100)), 'backend_torchscript/masked.pt'],
  hold_2_6: [SPINNING + batching(`preferred_batch_size: [ 2, 6 ] ${delayed(60_000)}`), 'spinning/model.pt'],
  hold_4_6: [SPINNING + batching('preferred_batch_size: [ 4, 6 ]'), 'spinning/model.pt'],
  max_8: [SPINNING.replace('16', '8') + batching(`preferred_batch_size: [ 2, 6 ] ${delayed(10)}`), 'spinning/model.pt'],
  free: [SPINNING + batching(''), 'spinning/model.pt'],
  ordered: [
    SPINNING + batching(`preferred_batch_size: 4 ${delayed(10_000)} preserve_ordering: true`),
    'spinning/model.pt',
  ],
  limited: [SPINNING + policy('max_queue_size: 8'), 'spinning/model.pt'],
  reject: [SPINNING + policy('default_timeout_microseconds: 20000'), 'spinning/model.pt'],
  delay: [
    SPINNING + batching(`preferred_batch_size: 1 default_queue_policy { timeout_action: DELAY ${OWN_TIMEOUT} }`),
    'spinning/model.pt',
  ],
  override: [SPINNING + policy(OWN_TIMEOUT), 'spinning/model.pt'],
  short: [SPINNING + policy('default_timeout_microseconds: 20000 allow_timeout_override: true'), 'spinning/model.pt'],
  no_override: [SPINNING + policy('default_timeout_microseconds: 60000000'), 'spinning/model.pt'],
  levels: [
    SPINNING + batching('preferred_batch_size: 1 priority_levels: 2 default_priority_level: 2'),
    'spinning/model.pt',
  ],
  mixed: [
    SPINNING +
      batching(`preferred_batch_size: 1 priority_levels: 2 default_priority_level: 1
        priority_queue_policy { key: 1 value { timeout_action: REJECT ${OWN_TIMEOUT} } }
        priority_queue_policy { key: 2 value { timeout_action: DELAY ${OWN_TIMEOUT} } }`),
    'spinning/model.pt',
  ],
  many_levels: [
    SPINNING + batching('preferred_batch_size: 1 priority_levels: 18446744073709551615 default_priority_level: 1000'),
    'spinning/model.pt',
  ],
  two_ordered: [`${SPINNING + batching('preserve_ordering: true')}instance_group { count: 2 }\n`, 'spinning/model.pt'],
  two_free: [`${SPINNING + batching('')}instance_group { count: 2 }\n`, 'spinning/model.pt'],
};

const repository = mkdtempSync(join(tmpdir(), 'nereid-qa-batching-'));
let server: NereidProcess;
let client: BatchingClient;

beforeAll(async () => {
  for (const [name, [config, file]] of Object.entries(MODELS))
    writeModelTree(repository, { name, config, versions: { 1: file } });
  server = await startNereid([repository]);
  expect((await fetch(`${server.url}/v2/health/ready`)).status, server.output()).toBe(200);
  client = await BatchingClient.connect(server.url, 20);
}, 60_000);
afterAll(async () => {
  client?.[Symbol.dispose]();
  await server?.stop();
  rmSync(repository, { recursive: true });
});

/** `3A` is a request of three rows of shape A (16 columns; B has 8); a number waits so many milliseconds. */
function sendRows(model: string, step: string, outputs?: readonly string[]): Pending {
  const shape = { rows: Number.parseInt(step, 10), columns: step.includes('B') ? 8 : 16 };
  const inputs = ['a', 'b'].map((name, value) => ({ name, ...shape, value }));
  return client.send({ model, inputs, ...(outputs && { outputs }) });
}

const spin = (model: string, { rows = 1, rounds = 1, parameters = '' } = {}) =>
  client.send({ model, inputs: [{ name: 'rounds', rows, columns: 1, value: rounds }], parameters });

/** Keeps an instance busy with one request, of so many rows that its batch is not held back. Resolves when it runs. */
async function hold(model: string, rows = 1): Promise<Pending> {
  const { formed } = await client.counts(model);
  const held = spin(model, { rounds: LONG, rows });
  await expect.poll(async () => (await client.counts(model)).formed, { interval: 5, timeout: 10_000 }).toBe(formed + 1);
  return held;
}

/** Names in the order of the answers, with the status where that is no success. */
async function answerOrder(requests: Readonly<Record<string, Pending>>): Promise<string[]> {
  const order: string[] = [];
  const watch = async ([name, { answer }]: [string, Pending]) => {
    const status = (await answer)?.status;
    order.push(status === 200 ? name : `${name} ${status}`);
  };
  await Promise.all(Object.entries(requests).map(watch));
  return order;
}

describe('preferred sizes 2 and 6 of at most 8, with a delay', () => {
  test.each<[string, readonly (string | number)[], object, readonly string[]]>([
    ['preferred sizes', ['2A', 50, '6A'], { 2: 1, 6: 1 }, ['2 preferred-size', '6 preferred-size']],
    ['below any preferred', ['1A'], { 1: 1 }, ['1 delay']],
    ['between preferred', ['3A'], { 3: 1 }, ['3 delay']],
    ['above the largest preferred', ['7A'], { 7: 1 }, ['7 full']],
    ['two, total between preferred', ['1A', 50, '3A'], { 4: 1 }, ['4 delay', '4 delay']],
    ['different shapes', ['1A', 20, '1B'], { 1: 2 }, ['1 shape-change', '1 delay']],
    ['third with other shape', ['1A', '3A', 20, '1B'], { 4: 1, 1: 1 }, ['4 shape-change', '4 shape-change', '1 delay']],
    [
      'third and fourth complete a preferred size',
      ['1A', '3A', 20, '1B', 20, '5B'],
      { 4: 1, 6: 1 },
      ['4 shape-change', '4 shape-change', '6 preferred-size', '6 preferred-size'],
    ],
    ['second alone exceeds the largest preferred', ['3A', 20, '7A'], { 3: 1, 7: 1 }, ['3 full', '7 full']],
    ['sum exceeds the largest preferred', ['3A', 20, '4A'], { 3: 1, 4: 1 }, ['3 full', '4 delay']],
  ])('%s', async (_, steps, sizes, batches) => {
    const before = await client.counts('preferred');
    const sent: Pending[] = [];
    for (const step of steps) {
      if (typeof step === 'number') await pause(step);
      else sent.push(sendRows('preferred', step));
    }
    const answers = await Promise.all(sent.map(({ answer }) => answer));
    expect(answers.map((answer) => answer?.batch)).toEqual(batches);
    expect(sizesBetween(before, await client.counts('preferred'))).toEqual(sizes);
  });

  test('different requested outputs, in another order', async () => {
    const sent = [sendRows('preferred', '1A', ['OUTPUT__0', 'OUTPUT__1']), sendRows('preferred', '1A', ['OUTPUT__1'])];
    const answers = await Promise.all(sent.map(({ answer }) => answer));
    expect(answers.map((answer) => answer?.batch)).toEqual(Array(2).fill('2 preferred-size'));
  });
});

describe('behind a busy instance', () => {
  test.each<[string, string, number, number, object]>([
    ['delay 0, preferred 4 and 6: four', 'hold_4_6', 1, 4, { 1: 1, 4: 1 }],
    ['delay 0, preferred 4 and 6: five', 'hold_4_6', 1, 5, { 1: 2, 4: 1 }],
    ['delay 0, preferred 4 and 6: seven', 'hold_4_6', 1, 7, { 1: 2, 6: 1 }],
    ['delay 0, preferred 4 and 6: three', 'hold_4_6', 1, 3, { 1: 1, 3: 1 }],
    ['delay 0 only: the eleven that queued behind the first', 'free', 1, 11, { 1: 1, 11: 1 }],
    ['the largest preferred size', 'hold_2_6', 7, 6, { 7: 1, 6: 1 }],
    ['preserve_ordering, preferred 4: twelve', 'ordered', 4, 12, { 4: 4 }],
  ])('%s', async (_, model, heldRows, count, sizes) => {
    const before = await client.counts(model);
    const held = await hold(model, heldRows);
    const sent = Object.fromEntries(Array.from({ length: count }, (_, id) => [`r${id}`, spin(model)]));
    const order = await answerOrder({ held, ...sent });
    expect(sizesBetween(before, await client.counts(model))).toEqual(sizes);
    if (model === 'ordered') expect(order).toEqual(['held', ...Object.keys(sent)]);
  });

  test('the best preferred size wins, and a third waits on', async () => {
    const before = await client.counts('hold_2_6');
    const held = await hold('hold_2_6', 7);
    const sent = [spin('hold_2_6'), spin('hold_2_6'), spin('hold_2_6')];
    await Promise.all([held.answer, sent[0]?.answer, sent[1]?.answer]);
    expect(sizesBetween(before, await client.counts('hold_2_6'))).toEqual({ 7: 1, 2: 1 });
    const fourth = await spin('hold_2_6').answer;
    expect([(await sent[2]?.answer)?.batch, fourth?.batch]).toEqual(Array(2).fill('2 preferred-size'));
  });

  test('after the delay the largest batch wins', async () => {
    const before = await client.counts('max_8');
    const held = await hold('max_8', 8);
    const sent = [spin('max_8', { rows: 3 }), spin('max_8', { rows: 4 })];
    await pause(20);
    sent.push(spin('max_8'));
    await Promise.all([held, ...sent].map(({ answer }) => answer));
    expect(sizesBetween(before, await client.counts('max_8'))).toEqual({ 8: 2 });
  });

  test('a delay only: twelve single ones in two executions', async () => {
    const sent = Array.from({ length: 12 }, () => sendRows('only_delay', '1A'));
    const answers = await Promise.all(sent.map(({ answer }) => answer));
    expect(answers.map((answer) => answer?.batch)).toEqual([...Array(8).fill('8 full'), ...Array(4).fill('4 delay')]);
  });
});

describe('the queue', () => {
  test('of at most 8 refuses exactly two of ten behind a batch that runs', async () => {
    const held = await hold('limited');
    const answers = await Promise.all(Array.from({ length: 10 }, () => spin('limited').answer));
    const refused = answers.filter((answer) => answer?.status === 503);
    expect(refused.map((answer) => answer?.error)).toEqual(
      Array(2).fill(expect.stringContaining('Exceeds maximum queue size')),
    );
    await held.answer;
    expect((await client.counts('limited')).failures).toBe(2);
  });

  test('rejects late requests while the instance is busy', async () => {
    const held = await hold('reject');
    const late = spin('reject');
    expect(await answerOrder({ held, late })).toEqual(['late 503', 'held']);
    expect((await late.answer)?.error).toContain('Request timeout expired');
  });

  test('lets delayed requests run after fresh ones', async () => {
    const held = await hold('delay');
    const late = spin('delay', { parameters: '"timeout":1000' });
    const fresh = spin('delay');
    expect(await answerOrder({ held, late, fresh })).toEqual(['held', 'fresh', 'late']);
  });

  test.each([
    ['a smaller timeout of a request counts', 'override', 1000, ['own 503', 'held']],
    ['a larger one does not', 'short', 60_000_000, ['own 503', 'held']],
    ['none does when the policy does not allow it', 'no_override', 1000, ['held', 'own']],
  ])('%s', async (_, model, timeout, expected) => {
    const held = await hold(model);
    const own = spin(model, { parameters: `"timeout":${timeout}` });
    expect(await answerOrder({ held, own })).toEqual(expected);
  });

  test('serves a later request of a higher priority first; 0 and levels that do not exist are the default', async () => {
    const held = await hold('levels');
    const send = (priority: number) => spin('levels', { parameters: `"priority":${priority}` });
    const sent = { low: send(2), none: send(0), beyond: send(3), high: send(1) };
    expect(await answerOrder({ held, ...sent })).toEqual(['held', 'high', 'low', 'none', 'beyond']);
  });

  test('honours a policy per level', async () => {
    const held = await hold('mixed');
    const send = (parameters: string) => spin('mixed', { parameters });
    const rejected = send('"priority":1,"timeout":1000');
    const delayed = send('"priority":2,"timeout":1000');
    const fresh = send('"priority":2');
    expect(await answerOrder({ held, rejected, delayed, fresh })).toEqual(['rejected 503', 'held', 'fresh', 'delayed']);
  });

  test('orders 2^64 − 1 levels, the last last', async () => {
    const held = await hold('many_levels');
    const send = (priority: bigint) => spin('many_levels', { parameters: `"priority":${priority}` });
    const sent = { last: send(2n ** 64n - 1n), before: send(2n ** 64n - 2n), first: send(1n) };
    expect(await answerOrder({ held, ...sent })).toEqual(['held', 'first', 'before', 'last']);
  });

  test('loses a request whose client goes away, and does not run it', async () => {
    const { inferences, failures } = await client.counts('free');
    const held = await hold('free');
    const [leaving, staying] = [spin('free'), spin('free')];
    // What was sent before it was read before it.
    await spin('override').answer;
    leaving.leave();
    expect(await leaving.answer).toBeUndefined();
    await Promise.all([held.answer, staying.answer]);
    expect(await client.counts('free')).toMatchObject({ inferences: inferences + 2, failures: failures + 1 });
  });
});

describe('two instances, one of them slower', () => {
  const run = async (model: string) => {
    const held = await hold(model);
    return answerOrder({ held, a: spin(model), b: spin(model), c: spin(model) });
  };

  test('answer in the order of arrival with preserve_ordering', async () => {
    expect(await run('two_ordered')).toEqual(['held', 'a', 'b', 'c']);
  });

  test('let the quick one overtake without', async () => {
    expect(await run('two_free')).toEqual(['a', 'b', 'c', 'held']);
  });
});

test('optional inputs: batches are split by the inputs that are there', async () => {
  const sent = ['xy', 'xy', 'xymask', 'xymask', 'xy'].map((names) => {
    const inputs = ['x', 'y', ...(names.endsWith('mask') ? ['mask'] : [])];
    return client.send({ model: 'optional', inputs: inputs.map((name) => ({ name, rows: 1, columns: 2, value: 1 })) });
  });
  const answers = await Promise.all(sent.map(({ answer }) => answer));
  expect(answers.map((answer) => answer?.batch)).toEqual([...Array(4).fill('2 shape-change'), '1 delay']);
});
