import grpc from '@grpc/grpc-js';
import type { InferenceRequest } from '@nereid/core';
import { HoldingEngine } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { addSubRequest, f32, serve } from './fixture.ts';

const picky = (value: number, id: string) => ({
  model_name: 'picky',
  id,
  inputs: [{ name: 'x', datatype: 'FP32', shape: [1, 2] }],
  raw_input_contents: [f32(value, 0)],
});

const answer = (request: InferenceRequest, final = true) =>
  request.respond({ modelName: request.modelName, modelVersion: '1', outputs: [] }, final);

const failing = () => {
  const metadata = new grpc.Metadata();
  metadata.set('triton_grpc_error', 'true');
  return metadata;
};

/** `id`, whether it is final and whether it is an error, of each message. */
const shown = (messages: readonly unknown[]) =>
  // biome-ignore lint/suspicious/noExplicitAny: messages are what the .proto says
  messages.map((message: any) => [
    message.infer_response?.id,
    message.infer_response?.parameters?.triton_final_response?.bool_param,
    message.error_message !== undefined && message.error_message !== '',
  ]);

describe('ModelStreamInfer', () => {
  it('answers every request, each with the mark of the last answer', async () => {
    await using served = await serve();
    const { code, messages } = await served.stream([addSubRequest({ id: '1' }), addSubRequest({ id: '2' })]);
    expect([code, shown(messages)]).toEqual([
      'OK',
      [
        ['1', true, false],
        ['2', true, false],
      ],
    ]);
    expect(messages[1].infer_response.raw_output_contents).toEqual([f32(1, 2, 3), f32(-1, 0, 1)]);
  });

  it('answers in the order of the requests, whatever order the models answer in', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const pending = served.stream(['1', '2', '3'].map((id) => addSubRequest({ id })));
    await holding.until(() => holding.held.length === 3);
    for (const request of holding.held.reverse()) answer(request);
    expect(shown((await pending).messages).map(([id]) => id)).toEqual(['1', '2', '3']);
  });

  it('sends several answers of one request as they come, and the bare end only when it is wanted', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const parameters = { triton_enable_empty_final_response: { bool_param: true } };
    const pending = served.stream([addSubRequest({ id: 'quiet' }), addSubRequest({ id: 'wanted', parameters })]);
    await holding.until(() => holding.held.length === 2);
    for (const request of holding.held) {
      answer(request, false);
      answer(request, false);
      request.respond(undefined);
    }
    expect(shown((await pending).messages)).toEqual([
      ['quiet', false, false],
      ['quiet', false, false],
      ['wanted', false, false],
      ['wanted', false, false],
      ['wanted', true, false],
    ]);
  });

  it('tells failures in the stream and goes on: a refusal by its id, a failure of the model as its final answer', async () => {
    await using served = await serve();
    const { code, messages } = await served.stream([
      addSubRequest({ model_name: 'nosuch', id: 'unknown' }),
      addSubRequest({ raw_input_contents: [], id: 'no data' }),
      picky(-1, 'raises'),
      picky(1, 'good'),
    ]);
    expect([code, shown(messages)]).toEqual([
      'OK',
      [
        ['unknown', undefined, true],
        ['no data', undefined, true],
        ['raises', true, true],
        ['good', true, false],
      ],
    ]);
    expect(messages[2].infer_response.model_name).toBe('picky');
  });

  it.each([
    ['a refused request', addSubRequest({ model_name: 'nosuch' }), 'NOT_FOUND'],
    ['a request that cannot be read', addSubRequest({ raw_input_contents: [] }), 'INVALID_ARGUMENT'],
    ['a failure of the model', picky(-1, 'r'), 'INTERNAL'],
  ])('ends with the status of %s for a client that asks for it, and cancels the rest', async (_, request, code) => {
    await using served = await serve();
    const outcome = await served.stream([request], failing());
    expect([outcome.code, outcome.messages]).toEqual([code, []]);
  });

  it('cancels what is under way when the client goes away', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    // biome-ignore lint/suspicious/noExplicitAny: the methods of a client are made from the .proto
    const call = (served.client as any).ModelStreamInfer() as grpc.ClientDuplexStream<object, unknown>;
    call.on('error', () => {});
    call.write(addSubRequest({ id: '1' }));
    call.write(addSubRequest({ id: '2' }));
    await holding.until(() => holding.held.length === 2);
    call.cancel();
    await holding.until(() => holding.cancelled.length === 2);
  });

  it('reads no more requests than may be under way, and goes on when one is answered', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap, maxStreamRequests: 2 });
    const pending = served.stream(Array.from({ length: 5 }, (_, i) => addSubRequest({ id: String(i) })));
    let most = 0;
    for (let i = 0; i < 5; i++) {
      const request = await holding.next();
      most = Math.max(most, holding.held.length + 1);
      answer(request);
    }
    expect(shown((await pending).messages).map(([id]) => id)).toEqual(['0', '1', '2', '3', '4']);
    // What one read of the socket brought is taken whole.
    expect(most).toBeLessThanOrEqual(5);
  });

  it('keeps no more answers than may wait for a client that does not read', async () => {
    await using served = await serve({ maxWaitingBytes: 1_000_000 });
    // biome-ignore lint/suspicious/noExplicitAny: the methods of a client are made from the .proto
    const call = (served.client as any).ModelStreamInfer() as grpc.ClientDuplexStream<object, unknown>;
    call.on('error', () => {});
    const values = Buffer.alloc(4 * 1_000_000);
    const request = {
      model_name: 'id_fp32',
      inputs: [{ name: 'x', datatype: 'FP32', shape: [1_000_000] }],
      raw_input_contents: [values],
    };
    for (let i = 0; i < 30; i++) call.write({ ...request, id: String(i) });
    call.end();
    const ids: string[] = [];
    // biome-ignore lint/suspicious/noExplicitAny: messages are what the .proto says
    for await (const message of call as AsyncIterable<any>) {
      ids.push(message.infer_response.id);
      // Slower than the server is.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(ids).toEqual(Array.from({ length: 30 }, (_, i) => String(i)));
  });
});
