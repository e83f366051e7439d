import { request as httpRequest, type IncomingMessage } from 'node:http';
import { HoldingEngine } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { ADD_SUB_JSON, responseOf, type Served, serve } from './fixture.ts';

const BODY = JSON.stringify({ ...ADD_SUB_JSON, parameters: { n: 1, 'My-User': 'made up' } });

/** With headers as they are written. */
function post(served: Served, path: string, body: string, headers: readonly string[]): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = {
      port: served.port,
      path,
      method: 'POST',
      agent: false as const,
      headers: ['Host', 'h', 'Content-Length', String(body.length), ...headers],
    };
    httpRequest(options, resolve).on('error', reject).end(body);
  });
}

describe.each([
  ['through the server factory', true],
  ["through fastify's router", false],
])('headers %s', (_, factory) => {
  it('that match reach the model as parameters under the names they were sent with', async () => {
    const holding = new HoldingEngine();
    await using served = await serve({ factory, wrap: holding.wrap, forwardHeaders: '^my-' });
    const answered = post(served, '/v2/models/addsub/infer', BODY, ['My-User', 'me', 'my-trace', 'a', 'other', 'b']);
    const held = await holding.next();
    held.respond(responseOf(held));
    expect((await answered).statusCode).toBe(200);
    expect(Object.fromEntries(held.parameters)).toEqual({ n: 1, 'My-User': 'me', 'my-trace': 'a' });
  });

  it('do not reach it without a pattern, nor with generate', async () => {
    const holding = new HoldingEngine();
    for (const [options, path, body, expected] of [
      [{}, '/v2/models/addsub/infer', BODY, { n: 1, 'My-User': 'made up' }],
      [{ forwardHeaders: '.*' }, '/v2/models/id_bytes/generate', '{"x":"a","n":1}', { n: 1 }],
    ] as const) {
      await using served = await serve({ factory, wrap: holding.wrap, ...options });
      const answered = post(served, path, body, ['My-User', 'me']);
      const held = await holding.next();
      held.respond(responseOf(held));
      await answered;
      expect(Object.fromEntries(held.parameters)).toEqual(expected);
    }
  });

  it('with a reserved name are refused when they match', async () => {
    await using served = await serve({ factory, forwardHeaders: 'o' });
    expect((await post(served, '/v2/models/addsub/infer', BODY, ['triton_x', 'y'])).statusCode).toBe(400);
    expect((await post(served, '/v2/models/addsub/infer', BODY, ['sequence_end', '1'])).statusCode).toBe(200);
  });
});
