import grpc from '@grpc/grpc-js';
import { generate } from 'selfsigned';
import { beforeAll, describe, expect, it } from 'vitest';
import { InferenceService, serve, unary } from './fixture.ts';

interface Pair {
  readonly cert: string;
  readonly private: string;
}

let ours: Pair;
let client: Pair;
let stranger: Pair;
beforeAll(async () => {
  const altNames = [{ type: 7, ip: '127.0.0.1' }] as const;
  const pair = (name: string) =>
    generate([{ name: 'commonName', value: name }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [...altNames] },
      ],
    });
  [ours, client, stranger] = await Promise.all([pair('server'), pair('client'), pair('stranger')]);
});

/** How a call ends that trusts the server and shows this certificate. */
async function codeWith(port: number, shown: Pair | undefined): Promise<string> {
  const pem = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  const credentials = grpc.credentials.createSsl(pem(ours.cert), pem(shown?.private), pem(shown?.cert));
  const caller = new InferenceService(`127.0.0.1:${port}`, credentials);
  const { code } = await unary(caller, 'ServerLive', { request: {}, options: { deadline: Date.now() + 10_000 } });
  caller.close();
  return code;
}

describe('a server with TLS', () => {
  it('serves clients that trust its certificate, and no plain text', async () => {
    await using served = await serve({ tls: { cert: ours.cert, key: ours.private } });
    expect(await codeWith(served.port, undefined)).toBe('OK');
    expect((await served.unary('ServerLive', {}, { deadline: Date.now() + 10_000 })).code).toBe('UNAVAILABLE');
  });

  it('that demands certificates serves only clients of its authorities', async () => {
    const tls = { cert: ours.cert, key: ours.private, ca: client.cert, requireClientCertificate: true };
    await using served = await serve({ tls });
    expect(await codeWith(served.port, client)).toBe('OK');
    expect(await codeWith(served.port, stranger)).toBe('UNAVAILABLE');
    expect(await codeWith(served.port, undefined)).toBe('UNAVAILABLE');
  });

  it('is not made of a certificate that is none', async () => {
    await expect(serve({ tls: { cert: 'none', key: 'none' } })).rejects.toThrow();
  });
});
