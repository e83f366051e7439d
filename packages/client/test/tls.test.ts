import { generate } from 'selfsigned';
import { beforeAll, expect, it } from 'vitest';
import { GrpcClient, HttpClient, type InferenceClient, nodeTransport } from '../src/index.ts';
import { failureOf } from './common.ts';
import { type Served, serve } from './fixture.ts';

let cert: string;
let key: string;
beforeAll(async () => {
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  cert = made.cert;
  key = made.private;
});

it.each<[string, (served: Served, ca?: string) => InferenceClient]>([
  [
    'HTTP',
    ({ url }, ca) =>
      new HttpClient({
        url: url.replace('http:', 'https:'),
        transport: nodeTransport({ tls: { ca } }),
        retry: { attempts: 1 },
      }),
  ],
  [
    'gRPC',
    ({ grpcUrl }, ca) =>
      new GrpcClient({ url: grpcUrl.replace('grpc:', 'grpcs:'), tls: { ca }, retry: { attempts: 1 } }),
  ],
])('%s over TLS takes the authorities that it is given, and no other', async (_, makeClient) => {
  await using served = await serve({ tls: { cert, key } });
  await using trusting = makeClient(served, cert);
  expect(await trusting.isServerReady()).toBe(true);
  await using other = makeClient(served);
  expect(await failureOf(other.serverMetadata())).toMatchObject({
    reason: 'connection',
    message: expect.stringMatching(/self.signed certificate/),
  });
});
