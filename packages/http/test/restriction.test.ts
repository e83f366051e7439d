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
  ['metadata', 'GET', '/v2/openapi.json'],
  ['metadata', 'GET', '/v2/docs'],
  ['metadata', 'GET', '/v2/models/addsub/openapi.json'],
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
  ['logging', 'GET', '/v2/logging'],
  ['logging', 'POST', '/v2/logging', '{}'],
  ['shared-memory', 'GET', '/v2/systemsharedmemory/status'],
  ['shared-memory', 'GET', '/v2/cudasharedmemory/status'],
  ['shared-memory', 'POST', '/v2/systemsharedmemory/region/r/register', '{}'],
  ['shared-memory', 'POST', '/v2/systemsharedmemory/unregister', ''],
];

describe.each([
  ['through the server factory', true],
  ["through fastify's router", false],
])('a restricted API %s', (_, factory) => {
  it('closes the calls of its categories to those without the key, and no others', async () => {
    const restrictedApis = API_CATEGORIES.map((category) => ({
      categories: [category],
      key: `Key-${category}`,
      value: 's3cret',
    }));
    await using served = await serve({ factory, restrictedApis });
    const call = async (headers: Record<string, string>) =>
      await Promise.all(
        CALLS.map(async ([, method, path, body]) => {
          const answer = await fetch(served.url + path, { method, headers, ...(body !== undefined && { body }) });
          return answer.status === 403 ? await answer.text() : 'answered';
        }),
      );
    const refusal = (category: string) => `{"error":"This API is restricted, expecting header 'key-${category}'"}`;
    const closed = CALLS.map(([category]) => refusal(category));
    expect(await call({})).toEqual(closed);
    for (const open of API_CATEGORIES) {
      const expected = CALLS.map(([category]) => (category === open ? 'answered' : refusal(category)));
      expect(await call({ [`KEY-${open}`]: 's3cret' })).toEqual(expected);
      expect(await call({ [`key-${open}`]: 'S3cret' })).toEqual(closed);
    }
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
