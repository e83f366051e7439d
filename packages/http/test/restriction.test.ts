import { API_CATEGORIES } from '@nereid/serving';
import { describe, expect, it } from 'vitest';
import { ADD_SUB_JSON, serve } from './fixture.ts';

const INFER = JSON.stringify(ADD_SUB_JSON);

/** A call of each kind: category, method, path, body. */
const CALLS: readonly (readonly [(typeof API_CATEGORIES)[number], string, string, string?])[] = [
  ['health', 'GET', '/v2/health/live'],
  ['health', 'GET', '/v2/health/ready'],
  ['health', 'GET', '/v2/models/addsub/ready'],
  ['metadata', 'GET', '/v2'],
  ['metadata', 'GET', '/v2/models/addsub'],
  ['inference', 'POST', '/v2/models/addsub/infer', INFER],
  ['inference', 'POST', '/v2/models/id_bytes/generate', '{"x":"a"}'],
  ['inference', 'POST', '/v2/models/id_bytes/generate_stream', '{"x":"a"}'],
  ['model-config', 'GET', '/v2/models/addsub/config'],
  ['statistics', 'GET', '/v2/models/addsub/stats'],
  ['statistics', 'GET', '/v2/models/stats'],
  ['model-repository', 'POST', '/v2/repository/index', ''],
  ['model-repository', 'POST', '/v2/repository/models/addsub/load', ''],
  ['model-repository', 'POST', '/v2/repository/models/addsub/unload', ''],
  ['model-repository', 'POST', '/v2/models/addsub/weights', '{}'],
  ['shared-memory', 'GET', '/v2/systemsharedmemory/status'],
  ['shared-memory', 'GET', '/v2/cudasharedmemory/status'],
  ['shared-memory', 'POST', '/v2/systemsharedmemory/region/r/register', '{}'],
  ['shared-memory', 'POST', '/v2/systemsharedmemory/unregister', ''],
];

describe.each([
  ['through the server factory', true],
  ["through fastify's router", false],
])('a restricted API %s', (_, factory) => {
  it.each(API_CATEGORIES.map((category) => [category]))('closes the calls of %s, and no others', async (category) => {
    await using served = await serve({
      factory,
      restrictedApis: [{ categories: [category], key: 'Api-Key', value: 's3cret' }],
    });
    const call = async (headers: Record<string, string>) =>
      await Promise.all(
        CALLS.map(async ([, method, path, body]) => {
          const answer = await fetch(served.url + path, { method, headers, ...(body !== undefined && { body }) });
          return answer.status === 403 ? await answer.text() : 'answered';
        }),
      );
    const refusal = '{"error":"This API is restricted, expecting header \'api-key\'"}';
    const expected = CALLS.map(([of]) => (of === category ? refusal : 'answered'));
    expect(await call({})).toEqual(expected);
    expect(await call({ 'api-key': 'S3cret' })).toEqual(expected);
    expect(await call({ 'API-key': 's3cret' })).toEqual(CALLS.map(() => 'answered'));
    // A path whose model was found before is no way around.
    expect(await call({})).toEqual(expected);
  });

  it('comes before what else is wrong, and leaves the connection in order', async () => {
    await using served = await serve({
      factory,
      restrictedApis: [{ categories: ['inference'], key: 'k', value: 'v' }],
    });
    for (const [method, path] of [
      ['POST', '/v2/models/nosuch/infer'],
      ['GET', '/v2/models/addsub/infer'],
      ['POST', '/v2/models/nosuch/generate'],
      ['GET', '/v2/models/addsub/generate'],
    ] as const) {
      const body = method === 'POST' ? { body: 'x'.repeat(100_000) } : {};
      expect((await fetch(served.url + path, { method, ...body })).status).toBe(403);
    }
    expect(served.log.errors).toEqual([]);
  });
});
