/** What a model is told of its requests. */
import type { InferenceRequest, InferenceRequestInit } from '@nereid/core';
import { requestFor } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CollectingLogger } from './collecting-logger.ts';
import { inputsAndOutputs, row, ServedModel, type ServeOptions } from './served-model.ts';

const TENSORS = inputsAndOutputs(['x FP32 -1'], ['y UINT8 -1']);
const load = (modelClass: string, options: Partial<ServeOptions> = {}) =>
  ServedModel.load({
    file: 'told.py',
    config: { maxBatchSize: 4, ...TENSORS },
    ...options,
    parameters: { MODEL_CLASS: modelClass, ...options.parameters },
  });

const logger = new CollectingLogger();
let model: ServedModel;
beforeAll(async () => {
  // Compiling it would fail.
  const parameters = { TORCH_COMPILE_OPTIONAL_PARAMETERS: '{"backend": "no such backend"}' };
  model = await load('Told', { logger, parameters });
});
afterAll(() => model.close());

function ask(init: Partial<InferenceRequestInit>, of: ServedModel = model): InferenceRequest {
  return requestFor({ inputs: [row(1, 2)], responder: of.responder, ...init });
}

/** The text of each response's first row. */
function texts(request: InferenceRequest, from: ServedModel = model): string[] {
  return from.responder.answersOf(request).flatMap(({ response, error }) => {
    if (error !== undefined) return [error.message];
    const [y] = response?.outputs ?? [];
    const rows = y?.shape.length === 2 ? (y.shape[0] ?? 1) : 1;
    return y === undefined ? [] : [Buffer.from(y.data.subarray(0, y.data.length / rows)).toString()];
  });
}

async function told(requests: readonly InferenceRequest[], by: ServedModel = model): Promise<unknown[]> {
  await by.instance().execute(requests);
  await Promise.all(requests.map((request) => by.responder.finalOf(request)));
  return requests.map((request) => texts(request, by).map((text) => JSON.parse(text)));
}

describe('a forward with the keyword requests', () => {
  it('is told of each request of its call, and which rows are its own', async () => {
    const a = ask({ id: 'a', correlationId: 7, parameters: new Map([['top_k', 5]]) });
    const b = ask({ id: 'b"é', correlationId: 'user/1' });
    const all = [
      ['a', 7, { top_k: 5 }, [0, 1]],
      ['b"é', 'user/1', {}, [1, 2]],
    ];
    expect(await told([a, b])).toEqual([[all], [all]]);
  });

  it('gets parameters of every kind as they are', async () => {
    const parameters = new Map<string, string | number | bigint | boolean>([
      ['text', 'a\u0000\n"\\'],
      ['yes', true],
      ['whole', -3],
      ['half', 0.5],
      ['large', 2n ** 63n],
      ['none', Number.NaN],
      ['least', Number.NEGATIVE_INFINITY],
    ]);
    const request = ask({ parameters, correlationId: 2n ** 64n - 1n });
    await model.instance().execute([request]);
    expect(texts(request)).toEqual([
      String.raw`[["", 18446744073709551615, {"text": "a\u0000\n\"\\", "yes": true, "whole": -3, "half": 0.5, "large": 9223372036854775808, "none": NaN, "least": -Infinity}, [0, 1]]]`,
    ]);
  });

  it('is told of the span of a request that is traced', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const responder = {
      traceparent,
      respond: model.responder.respond.bind(model.responder),
      fail: model.responder.fail.bind(model.responder),
    };
    expect(await told([requestFor({ id: 'a', inputs: [row(1, 2)], responder })])).toEqual([
      [[['a', 0, {}, [0, 1], traceparent]]],
    ]);
  });

  it('is not compiled, and says so', () => {
    expect(logger.lines.join('\n')).toContain("forward of 'm' takes requests, which torch.compile does not");
  });

  it('is told again after its process was started anew', async () => {
    process.kill(model.instance().pid ?? 0, 'SIGKILL');
    await expect.poll(() => model.instance().isReady).toBe(false);
    await expect.poll(() => model.instance().isReady, { timeout: 30_000 }).toBe(true);
    expect(await told([ask({ id: 'a' })])).toEqual([[[['a', 0, {}, [0, 1]]]]]);
  });

  it('may be a generator, and is told of one request at a time without batching', async () => {
    const config = {
      modelTransactionPolicy: { decoupled: true },
      ...inputsAndOutputs(['x FP32 -1 -1'], ['y UINT8 -1']),
    };
    await using own = await load('ToldInSteps', { config });
    const requests = ['a', 'b'].map((id) => ask({ id }, own));
    const [a, b] = [[['a', 0, {}, [0, 1]]], [['b', 0, {}, [0, 1]]]];
    expect(await told(requests, own)).toEqual([
      [a, a],
      [b, b],
    ]);
  });
});

it('a tensor may be called requests', async () => {
  await using own = await load('Positional');
  const outputs = await own.infer(row(1, 2));
  expect([...(outputs.get('y')?.data ?? [])]).toEqual([1, 2]);
});
