import { type RequestOptions, request } from 'node:https';
import { connect } from 'node:tls';
import { generate } from 'selfsigned';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADD_SUB_JSON, serve } from './fixture.ts';

interface Pair {
  readonly cert: string;
  readonly private: string;
}

let ours: Pair;
let client: Pair;
let stranger: Pair;
beforeAll(async () => {
  const pair = (name: string) =>
    generate([{ name: 'commonName', value: name }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
      ],
    });
  [ours, client, stranger] = await Promise.all([pair('server'), pair('client'), pair('stranger')]);
});

/** Status and text of an answer, or how there was none. */
function call(options: RequestOptions, body?: string): Promise<readonly [number | undefined, string] | 'refused'> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', agent: false, ca: ours.cert, ...options }, async (answer) => {
      let text = '';
      for await (const piece of answer.setEncoding('utf8')) text += piece;
      resolve([answer.statusCode, text]);
    });
    sent.on('error', () => resolve('refused'));
    sent.end(body);
  });
}

const INFER = { method: 'POST', path: '/v2/models/addsub/infer' };

describe('a server with TLS', () => {
  it('answers every call over it, inference and streams included', async () => {
    await using served = await serve({ tls: { cert: ours.cert, key: ours.private } });
    const { port } = served;
    expect(await call({ port, path: '/v2/health/live' })).toEqual([200, '']);
    const large = { ...ADD_SUB_JSON, id: 'x'.repeat(10_000) };
    for (const body of [ADD_SUB_JSON, large]) {
      expect(await call({ port, ...INFER }, JSON.stringify(body))).toEqual([
        200,
        expect.stringContaining('"data":[1.0,2.0,3.0]'),
      ]);
    }
    const stream = { port, method: 'POST', path: '/v2/models/id_bytes/generate_stream' };
    expect(await call(stream, '{"x":"a"}')).toEqual([200, expect.stringMatching(/^data: .*\n\n$/)]);
  });

  it('serves no clear text and no client that does not trust it, and goes on', async () => {
    await using served = await serve({ tls: { cert: ours.cert, key: ours.private } });
    await expect(fetch(`http://127.0.0.1:${served.port}/v2`)).rejects.toThrow();
    expect(await call({ port: served.port, path: '/v2', ca: stranger.cert })).toBe('refused');
    expect(await call({ port: served.port, path: '/v2/health/live' })).toEqual([200, '']);
    expect(served.log.errors).toEqual([]);
  });

  it('that demands certificates serves only clients of its authorities', async () => {
    const tls = { cert: ours.cert, key: ours.private, ca: client.cert, requireClientCertificate: true };
    await using served = await serve({ tls });
    const shown = ({ cert, private: key }: Pair) => call({ port: served.port, path: '/v2/health/live', cert, key });
    expect(await shown(client)).toEqual([200, '']);
    expect(await shown(stranger)).toBe('refused');
    expect(await call({ port: served.port, path: '/v2/health/live' })).toBe('refused');
  });

  it('speaks HTTP/1.1 in TLS 1.2 or later', async () => {
    await using served = await serve({ tls: { cert: ours.cert, key: ours.private } });
    const socket = connect({ port: served.port, host: '127.0.0.1', ca: ours.cert, ALPNProtocols: ['h2', 'http/1.1'] });
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    expect([socket.alpnProtocol, socket.getProtocol()]).toEqual(['http/1.1', expect.stringMatching(/^TLSv1\.[23]$/)]);
    socket.destroy();
  });

  it('is not made of a certificate that is none', async () => {
    await expect(serve({ tls: { cert: 'none', key: 'none' } })).rejects.toThrow();
  });
});
