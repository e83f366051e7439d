import { type IncomingHttpHeaders, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ADD_SUB_JSON, type Served, serve } from './fixture.ts';

interface Call {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

function call(served: Served, { method = 'GET', path, headers = {}, body }: Call) {
  return new Promise<readonly [number | undefined, IncomingHttpHeaders]>((resolve, reject) => {
    const sent = request({ port: served.port, agent: false, method, path, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve([answer.statusCode, answer.headers]));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const ORIGIN = 'https://page.example';
const CALLS: readonly Call[] = [
  { path: '/v2' },
  { path: '/nowhere' },
  { method: 'POST', path: '/v2/models/addsub/infer', body: JSON.stringify(ADD_SUB_JSON) },
  { method: 'POST', path: '/v2/models/addsub/infer', body: '{' },
  { method: 'POST', path: '/v2/models/id_bytes/generate', body: '{"x":"a"}' },
  { method: 'POST', path: '/v2/models/id_bytes/generate_stream', body: '{"x":"a"}' },
];

const PREFLIGHT = {
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'content-type,inference-header-content-length',
};

describe.each([
  ['through the server factory', true],
  ["through fastify's router", false],
])('cross-origin requests %s', (_, factory) => {
  it.each<[string, readonly string[], string, string | undefined, string | undefined]>([
    ['an origin of the list', ['https://other.example', ORIGIN], ORIGIN, ORIGIN, 'Origin'],
    ['any origin', ['*'], ORIGIN, '*', undefined],
    ['another origin', ['https://other.example'], ORIGIN, undefined, 'Origin'],
    ['an origin that begins alike', [ORIGIN], `${ORIGIN}.evil`, undefined, 'Origin'],
    ['any origin without a list', [], ORIGIN, undefined, undefined],
  ])('of %s', async (_name, corsOrigins, origin, allowed, vary) => {
    await using served = await serve({ factory, corsOrigins });
    const open = [200, 404, 200, 400, 200, 200];
    for (const [i, one] of CALLS.entries()) {
      const [status, headers] = await call(served, { ...one, headers: { origin } });
      const found = [status, headers['access-control-allow-origin'], headers.vary];
      expect(found).toEqual([open[i], allowed, vary]);
      expect(headers['access-control-expose-headers']?.includes('Inference-Header-Content-Length') ?? false).toBe(
        allowed !== undefined,
      );
    }
    const [status, headers] = await call(served, { ...INFER_OPTIONS, headers: { origin, ...PREFLIGHT } });
    expect([status, headers['access-control-allow-methods'], headers['access-control-allow-headers']]).toEqual(
      allowed === undefined
        ? [405, undefined, undefined]
        : [204, 'GET, POST', PREFLIGHT['access-control-request-headers']],
    );
  });

  it('are asked for without the key of a restricted API, and made with it', async () => {
    const restrictedApis = [{ categories: ['inference'], key: 'key', value: 'v' }] as const;
    await using served = await serve({ factory, corsOrigins: [ORIGIN], restrictedApis });
    const asked = { ...PREFLIGHT, 'access-control-request-headers': 'key' };
    expect((await call(served, { ...INFER_OPTIONS, headers: { origin: ORIGIN, ...asked } }))[0]).toBe(204);
    const [status, headers] = await call(served, { ...INFER_OPTIONS, method: 'POST', headers: { origin: ORIGIN } });
    expect([status, headers['access-control-allow-origin']]).toEqual([403, ORIGIN]);
  });

  it('leaves OPTIONS that ask nothing as they are', async () => {
    await using served = await serve({ factory, corsOrigins: ['*'] });
    expect(await call(served, INFER_OPTIONS)).toMatchObject([405, { allow: 'POST' }]);
  });
});

const INFER_OPTIONS = { method: 'OPTIONS', path: '/v2/models/addsub/infer' } as const;
