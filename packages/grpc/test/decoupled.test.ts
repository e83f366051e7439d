import { once } from 'node:events';
import { connect } from 'node:http2';
import type grpc from '@grpc/grpc-js';
import type { InferenceRequest, InferenceResponse } from '@nereid/core';
import type { InferenceEngine } from '@nereid/serving';
import { HoldingEngine } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { messageType } from '../src/schema.ts';
import { addSubRequest, f32, REPEAT_WINDOW, serve } from './fixture.ts';

const WANTS_END = { triton_enable_empty_final_response: { bool_param: true } };

/** A request to the decoupled model: one response for each value. */
const repeat = (id: string, values: readonly number[], parameters: object = {}) => ({
  model_name: 'repeat',
  id,
  parameters,
  inputs: [{ name: 'x', datatype: 'FP32', shape: [values.length] }],
  raw_input_contents: [f32(...values)],
});

/** `id value`, `id end` or `id: error`, with a mark behind what is final. */
// biome-ignore lint/suspicious/noExplicitAny: messages are what the .proto says
const shown = ({ error_message: error, infer_response: response }: any): string => {
  const [raw] = response.raw_output_contents ?? [];
  const what = error ? `: ${error}` : raw === undefined ? ' end' : ` ${raw.readFloatLE(0)}`;
  return `${response.id}${what}${response.parameters.triton_final_response?.bool_param ? ' (final)' : ''}`;
};

describe('a decoupled model on a stream', () => {
  it.each([
    ['many responses', [1, 2, 3], {}, ['r 1', 'r 2', 'r 3']],
    ['many, and the end that it asked for', [1, 2], WANTS_END, ['r 1', 'r 2', 'r end (final)']],
    ['none', [], {}, []],
    ['none, and the end that it asked for', [], WANTS_END, ['r end (final)']],
    ['a failure after some', [1, -1, 2], WANTS_END, ['r 1', 'r: negative (final)']],
  ])('answers a request with %s', async (_, values, parameters, expected) => {
    await using served = await serve();
    const { code, messages } = await served.stream([repeat('r', values, parameters)]);
    expect([code, messages.map(shown)]).toEqual(['OK', expected]);
  });

  it('names model and version also in the end without outputs', async () => {
    await using served = await serve();
    const [end] = (await served.stream([repeat('r', [], WANTS_END)])).messages;
    expect(end.infer_response).toMatchObject({ id: 'r', model_name: 'repeat' });
  });

  it('answers requests as responses come, past requests that wait before them', async () => {
    const holding = new HoldingEngine();
    const wrap = (engine: InferenceEngine) => {
      const held = holding.wrap(engine);
      const infer = (request: InferenceRequest) => (request.modelName === 'repeat' ? engine : held).infer(request);
      return new Proxy(held, { get: (target, key) => (key === 'infer' ? infer : Reflect.get(target, key)) });
    };
    await using served = await serve({ wrap });
    // biome-ignore lint/suspicious/noExplicitAny: the methods of a client are made from the .proto
    const call = (served.client as any).ModelStreamInfer() as grpc.ClientDuplexStream<object, unknown>;
    const messages: string[] = [];
    const told = (count: number) =>
      new Promise<void>((resolve) => {
        const look = () => void (messages.length >= count && resolve());
        call.on('data', look);
      });
    call.on('data', (message) => messages.push(shown(message)));
    const three = told(3);
    call.write(addSubRequest({ id: 'slow' }));
    call.write(repeat('a', [1, 2]));
    call.write(repeat('b', [3]));
    await three;
    expect(messages.filter((line) => line.startsWith('a'))).toEqual(['a 1', 'a 2']);
    expect(messages).toContain('b 3');
    const slow = await holding.next();
    const four = told(4);
    slow.respond({ modelName: 'addsub', modelVersion: '1', outputs: [] });
    await four;
    expect(messages.at(-1)).toBe('slow end (final)');
    const ended = new Promise((resolve) => call.on('status', resolve));
    call.end();
    expect(await ended).toMatchObject({ code: 0 });
  });

  it.each([
    ['large messages', 10_000, {}],
    ['small messages', 500, {}],
    ['compressed messages', 10_000, { 'grpc-accept-encoding': 'gzip' }],
  ])('makes no more responses than a client reads: %s', async (_, size, headers) => {
    const watched = new Watched();
    await using served = await serve({ wrap: watched.wrap, responseCompression: 'low' });
    await using client = rawStream(served.port, headers);
    const responses = 4000;
    client.send(new Array(responses).fill(1), size);
    // Calls on another connection take many turns of the loop; a model that nobody holds back would be done in few.
    for (let i = 0; i < 20 || watched.made === 0; i++) await served.unary('ServerLive', {});
    expect(watched.made).toBeLessThan(responses);
    expect(watched.made - watched.released).toBeLessThanOrEqual(REPEAT_WINDOW);
    client.stream.resume();
    await once(client.stream, 'close');
    expect([watched.made, watched.released]).toEqual([responses, responses]);
  });

  it('stops when the client goes away', async () => {
    const watched = new Watched();
    await using served = await serve({ wrap: watched.wrap });
    const client = rawStream(served.port);
    client.send(new Array(4000).fill(1), 10_000);
    await expect.poll(() => watched.made).toBeGreaterThan(0);
    await client[Symbol.asyncDispose]();
    await expect.poll(() => watched.requests[0]?.isDone).toBe(true);
    expect(watched.made).toBeLessThan(4000);
    expect(served.engine.statistics('repeat')[0]).toMatchObject({ failures: { CANCELED: 1 } });
  });
});

/** Stands between front end and engine, and counts the responses that are made and those that were released. */
class Watched {
  readonly requests: InferenceRequest[] = [];
  made = 0;
  released = 0;

  readonly wrap = (engine: InferenceEngine): InferenceEngine =>
    new Proxy(engine, {
      get: (target, key) => {
        const value: unknown = key === 'infer' ? this.#infer(target) : Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });

  #infer(engine: InferenceEngine) {
    return (request: InferenceRequest): void => {
      this.requests.push(request);
      request.gate = {
        take: (_, answer) => {
          const response = answer.error === undefined ? answer.response : undefined;
          if (answer.error !== undefined || response === undefined) request.deliver(answer);
          else request.deliver({ response: this.#counted(response), final: answer.final });
        },
      };
      engine.infer(request);
    };
  }

  #counted(response: InferenceResponse): InferenceResponse {
    this.made++;
    const release = () => {
      this.released++;
      response.release?.();
    };
    return { ...response, release };
  }
}

/** A stream of a client that reads only when it is told to: libraries read ahead. */
function rawStream(port: number, headers: object = {}) {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  const stream = session.request({
    ':method': 'POST',
    ':path': '/inference.GRPCInferenceService/ModelStreamInfer',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  stream.on('error', () => {});
  return {
    stream,
    send(values: readonly number[], size: number) {
      const message = {
        modelName: 'repeat',
        parameters: { size: { int64Param: size } },
        inputs: [{ name: 'x', datatype: 'FP32', shape: [values.length] }],
        rawInputContents: [f32(...values)],
      };
      const bytes = messageType('inference.ModelInferRequest').encode(message).finish();
      const prefix = Buffer.alloc(5);
      prefix.writeUInt32BE(bytes.length, 1);
      stream.end(Buffer.concat([prefix, bytes]));
    },
    async [Symbol.asyncDispose]() {
      session.destroy();
    },
  };
}

describe('a decoupled model and ModelInfer', () => {
  it('do not go together', async () => {
    await using served = await serve();
    const { code, details } = await served.unary('ModelInfer', repeat('r', [1]));
    expect([code, details]).toEqual([
      'UNIMPLEMENTED',
      expect.stringContaining("doesn't support models with decoupled transaction policy"),
    ]);
  });
});

it('statistics tell of the responses of a decoupled model by their position', async () => {
  await using served = await serve();
  await served.stream([repeat('a', [1]), repeat('b', [-1])]);
  const { messages } = await served.unary('ModelStatistics', { name: 'repeat' });
  // What is 0 is not on the wire.
  const none = {};
  const one = { count: '1' };
  const two = { count: '2' };
  expect(messages[0].model_stats[0].response_stats).toEqual({
    0: { compute_infer: two, compute_output: one, success: one, fail: one, empty_response: none, cancel: none },
    1: { compute_infer: none, compute_output: none, success: none, fail: none, empty_response: one, cancel: none },
  });
});
