/** One process serves most of these tests: its model does what the first value of the input says. */
import type { InferenceRequest } from '@nereid/core';
import { tensor, valuesOf } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CollectingLogger } from './collecting-logger.ts';
import { inputsAndOutputs, row, ServedModel } from './served-model.ts';

const DECOUPLED = { modelTransactionPolicy: { decoupled: true } };
const CONFIG = { maxBatchSize: 4, ...DECOUPLED, ...inputsAndOutputs(['x FP32 -1'], ['y FP32 -1']) };
const WINDOW = 4;
/** What the first value of an input asks for. */
const EACH = 0;
const FAILING = 1;
const ONE = 2;
const NONE = 3;
const COUNTERS = 4;
const EACH_LATER = 5;
const ASLEEP = 6;
const COROUTINE = 7;
const WRONG = 8;
const ENDING = 9;

let model: ServedModel;
beforeAll(async () => {
  model = await ServedModel.load({
    file: 'streams.py',
    config: CONFIG,
    backend: { maxUnreleasedResponses: WINDOW, maxConcurrentStreams: 3 },
  });
});
afterAll(() => model.close());

/** Per answer: the first row of `y`, `end` or the error's code; `!` marks what is final. */
function shown(request: InferenceRequest, from: ServedModel = model): string[] {
  return from.responder.answersOf(request).map(({ response, error, final }) => {
    const [y] = response?.outputs ?? [];
    const what = error?.code ?? (y === undefined ? 'end' : valuesOf(y).join(' '));
    return final ? `${what}!` : what;
  });
}

const releaseAll = (request: InferenceRequest, from: ServedModel = model) => {
  for (const { response } of from.responder.answersOf(request)) response?.release?.();
};

/** Runs a request to its end; a reader that takes each response at once. */
async function answersTo(...values: readonly number[]): Promise<string[]> {
  const request = model.request([row(...values)]);
  await model.instance().execute([request]);
  await readToEnd(request);
  return shown(request);
}

async function readToEnd(request: InferenceRequest): Promise<void> {
  for (let read = 0; !request.isDone; ) {
    const answers = model.responder.answersOf(request);
    if (read === answers.length) await new Promise(setImmediate);
    for (; read < answers.length; read++) answers[read]?.response?.release?.();
  }
}

async function counters(): Promise<{ made: number; closed: number }> {
  const [y] = (await answersTo(COUNTERS, 0)).map((text) => text.replace('!', '').split(' ').map(Number));
  return { made: y?.[0] ?? -1, closed: y?.[1] ?? -1 };
}

describe('what forward of a decoupled model returns', () => {
  it.each([
    {
      what: 'a generator: one response for each result, then the end',
      values: [EACH, 3],
      expected: ['0 3', '1 4', '2 5', 'end!'],
    },
    { what: 'a generator without results: none', values: [EACH, 0], expected: ['end!'] },
    { what: 'an async generator', values: [EACH_LATER, 2], expected: ['5 2', '6 3', 'end!'] },
    { what: 'a result: the only response', values: [ONE, 1], expected: ['2 1!'] },
    { what: 'a coroutine: the result that it brings', values: [COROUTINE, 1], expected: ['7 1!'] },
    { what: 'None: no response', values: [NONE, 0], expected: ['end!'] },
    { what: 'a generator that fails after some results', values: [FAILING, 2], expected: ['1 2', '2 3', 'INTERNAL!'] },
    { what: 'a generator that yields something else', values: [WRONG, 0], expected: ['INVALID_ARG!'] },
    {
      what: 'far more results than may be under way',
      values: [EACH, 50],
      expected: [...Array.from({ length: 50 }, (_, i) => `${i} ${50 + i}`), 'end!'],
    },
  ])('$what', async ({ values, expected }) => {
    expect(await answersTo(...values)).toEqual(expected);
  });

  it('shows where a generator failed, as for a call that has one result', async () => {
    const request = model.request([row(FAILING, 0)]);
    await model.instance().execute([request]);
    expect(await model.errorOf(request)).toMatchObject({
      reason: 'execution',
      message: expect.stringMatching(
        /forward failed: ValueError: the cat sat on the keyboard\n {2}at streams.py:\d+, in failing: raise/,
      ),
    });
  });
});

describe('requests of a decoupled model', () => {
  it('run side by side, and one that nobody reads holds no other back', async () => {
    const slow = model.request([row(EACH, 10)]);
    await model.instance().execute([slow]);
    expect(await answersTo(EACH, 6)).toHaveLength(7);
    expect(shown(slow)).toHaveLength(WINDOW);
    const { made } = await counters();
    expect((await counters()).made).toBe(made);
    await readToEnd(slow);
    expect(shown(slow)).toHaveLength(11);
  });

  it('wait when as many run as may, and are taken when one ends', async () => {
    const held = [1, 2, 3].map(() => model.request([row(EACH, 10)]));
    const runs = held.map((request) => model.instance().execute([request]));
    expect(await Promise.race([runs[2], Promise.all([runs[0], runs[1]]).then(() => 'two')])).toBe('two');
    await readToEnd(held[0] ?? model.request([]));
    await runs[2];
    for (const request of held) await readToEnd(request);
  });

  it.each([
    ['a generator, when it yields', [EACH, -1]],
    ['an async generator, where it waits', [ASLEEP, 0]],
  ])('that are cancelled close %s', async (_, values) => {
    const before = await counters();
    const request = model.request([row(...values)]);
    await model.instance().execute([request]);
    await expect.poll(() => shown(request).length).toBeGreaterThan(0);
    request.cancel();
    expect(shown(request).at(-1)).toBe('CANCELLED!');
    await expect.poll(async () => (await counters()).closed).toBe(before.closed + 1);
    releaseAll(request);
  });

  it('that run together get their rows of each result, and one may leave before the others', async () => {
    const rows = (count: number, first: number) =>
      tensor({ name: 'x', shape: [count, 2], values: Array.from({ length: count }, () => [first, 3]).flat() });
    const [leaves, stays] = [model.request([rows(1, 0)]), model.request([rows(2, 0)])];
    const whole = [leaves, stays];
    for (const [i, request] of whole.entries()) request.batchSize = i + 1;
    const released = new Set<object>();
    leaves.gate = {
      take: (request, answer) => {
        request.deliver(answer);
        if (released.size === 0) request.cancel();
        released.add(answer);
      },
    };
    await model.instance().execute(whole);
    await readToEnd(stays);
    expect(shown(leaves)).toEqual(['0 3', 'CANCELLED!']);
    expect(shown(stays)).toEqual(['0 3 0 3', '1 4 1 4', '2 5 2 5', 'end!']);
    releaseAll(leaves);
  });
});

describe('a decoupled instance', () => {
  it('reports each response and, at the end, the execution with the times of all', async () => {
    const [responses, reports] = [model.responses.length, model.reports.length];
    for (const code of [EACH, FAILING, ONE]) await answersTo(code, 1);
    const told = model.responses.slice(responses);
    expect(told.map(({ index, outcome }) => `${index} ${outcome}`)).toEqual([
      '0 success',
      '1 empty',
      '0 success',
      '1 fail',
      '0 success',
    ]);
    const executions = model.reports.slice(reports);
    expect(executions.map(({ requests, batchSize }) => [requests.length, batchSize])).toEqual([
      [1, 1],
      [1, 1],
    ]);
    const [first, end] = told;
    expect(executions[0]?.computeInferNs).toBe((first?.computeInferNs ?? 0) + (end?.computeInferNs ?? 0));
  });

  it('fails every call of a process that ends, and serves again', async () => {
    const own = await ServedModel.load({ file: 'streams.py', config: CONFIG });
    await using _ = own;
    const bystander = own.request([row(ASLEEP, 0)]);
    const culprit = own.request([row(ENDING, 1)]);
    await own.instance().execute([bystander]);
    await own.instance().execute([culprit]);
    for (const request of [bystander, culprit]) {
      expect(await own.errorOf(request)).toMatchObject({ code: 'UNAVAILABLE', reason: 'process' });
    }
    expect(shown(culprit, own)[0]).toBe('9 1');
    const next = own.request([row(ONE, 0)]);
    await own.instance().execute([next]);
    await own.responder.finalOf(next);
    expect(shown(next, own)).toEqual(['2 0!']);
  });

  it('leaves a forward that is a generator uncompiled, and says so', async () => {
    const logger = new CollectingLogger();
    const own = await ServedModel.load({
      file: 'generator.py',
      logger,
      config: { ...DECOUPLED, ...inputsAndOutputs(['x FP32 1'], ['y FP32 1']) },
      parameters: { TORCH_COMPILE_OPTIONAL_PARAMETERS: '{"backend": "no such backend"}' },
    });
    await using _ = own;
    const request = own.request([tensor({ name: 'x', values: [2] })]);
    await own.instance().execute([request]);
    await own.responder.finalOf(request);
    expect(shown(request, own)).toEqual(['2', '1', 'end!']);
    expect(logger.lines.join('\n')).toContain(
      "forward of 'm' is a generator or a coroutine, which torch.compile does not take",
    );
  });
});

it('a generator without the policy is refused with what to add', async () => {
  const own = await ServedModel.load({
    file: 'generator.py',
    config: inputsAndOutputs(['x FP32 1'], ['y FP32 1']),
  });
  await using _ = own;
  expect(await own.failure(tensor({ name: 'x', values: [2] }))).toMatchObject({
    code: 'INVALID_ARG',
    message: expect.stringContaining('set model_transaction_policy { decoupled: true }'),
  });
});
