import fc from 'fast-check';
import fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nereidHttp } from '../src/index.ts';
import { escapeBrokenSegments, matchRoute, methodsOf } from '../src/routes.ts';
import { type Served, serve } from './fixture.ts';

describe('matchRoute', () => {
  it.each<[string, object]>([
    ['/v2', { kind: 'server' }],
    ['/v2/health/live', { kind: 'live' }],
    ['/v2/openapi.json', { kind: 'openapi' }],
    ['/v2/docs', { kind: 'docs' }],
    ['/v2/models/m/openapi.json', { kind: 'model-openapi', name: 'm', version: '' }],
    ['/v2/health/ready', { kind: 'ready' }],
    ['/v2/models/m', { kind: 'model', name: 'm', version: '' }],
    ['/v2/models/m/versions/3', { kind: 'model', name: 'm', version: '3' }],
    ['/v2/models/m/ready', { kind: 'model-ready', name: 'm', version: '' }],
    ['/v2/models/m/versions/3/ready', { kind: 'model-ready', name: 'm', version: '3' }],
    ['/v2/models/m/config', { kind: 'config', name: 'm', version: '' }],
    ['/v2/models/m/weights', { kind: 'weights', name: 'm', version: '' }],
    ['/v2/models/m/versions/3/weights', { kind: 'weights', name: 'm', version: '3' }],
    ['/v2/models/m/stats', { kind: 'stats', name: 'm', version: '' }],
    ['/v2/models/m/versions/007/infer', { kind: 'infer', name: 'm', version: '7' }],
    ['/v2/models/m/generate', { kind: 'generate', name: 'm', version: '' }],
    ['/v2/models/m/versions/3/generate_stream', { kind: 'generate-stream', name: 'm', version: '3' }],
    ['/v2/models/stats', { kind: 'all-stats' }],
    ['/v2/models/stats/infer', { kind: 'infer', name: 'stats', version: '' }],
    ['/v2/models/versions/versions/1', { kind: 'model', name: 'versions', version: '1' }],
    ['/v2/models/a%20b%2Fc/ready', { kind: 'model-ready', name: 'a b/c', version: '' }],
    ['/v2/models/100%/ready', { kind: 'model-ready', name: '100%', version: '' }],
    ['/v2/models/%ff/ready', { kind: 'model-ready', name: '%ff', version: '' }],
    ['/v2/models/a b/ready', { kind: 'model-ready', name: 'a b', version: '' }],
    [`/v2/models/${'x'.repeat(500)}`, { kind: 'model', name: 'x'.repeat(500), version: '' }],
    ['/v2/repository/index', { kind: 'index' }],
    ['/v2/repository/r/index', { kind: 'index' }],
    ['/v2/repository/models/m/load', { kind: 'load', name: 'm', repository: '' }],
    ['/v2/repository/r/models/m/unload', { kind: 'unload', name: 'm', repository: 'r' }],
  ])('%s', (path, route) => {
    expect(matchRoute(path)).toEqual(route);
    expect(matchRoute(escapeBrokenSegments(path))).toEqual(route);
  });

  it.each([
    '/',
    '',
    '/v1/models',
    '/v2/',
    '/V2',
    '/v2/health',
    '/v2/health/live/x',
    '/v2/openapi.json/x',
    '/v2/docs/',
    '/v2/models',
    '/v2/models/',
    '/v2/models/m/',
    '/v2/models//infer',
    '/v2/models/m/versions',
    '/v2/models/m/versions/',
    '/v2/models/m/versions/x',
    '/v2/models/m/versions/-1',
    '/v2/models/m/versions/1/',
    '/v2/models/m/infer/x',
    '/v2/models/m/nosuch',
    '/v2/nosuch',
    '/v2/repository',
    '/v2/repository//index',
    '/v2/repository/index/x',
    '/v2/repository/models//load',
    '/v2/repository/models/m/nosuch',
    '/v2/repository/models/m/load/x',
  ])('finds nothing at %j', (path) => {
    expect(matchRoute(path)).toBeUndefined();
  });

  it('takes any path apart without throwing, and finds the same behind escaping', () => {
    const segment = fc.constantFrom(
      'v2',
      'models',
      'versions',
      'health',
      'live',
      'repository',
      'index',
      'load',
      'infer',
      '1',
      '',
      '%',
      '%41',
      '%zz',
      'é',
    );
    const path = fc.oneof(
      fc.array(segment, { maxLength: 8 }).map((segments) => `/${segments.join('/')}`),
      fc.string(),
    );
    fc.assert(
      fc.property(path, (text) => {
        expect(matchRoute(escapeBrokenSegments(text))).toEqual(matchRoute(text.split('?')[0] ?? ''));
      }),
      { seed: 11, numRuns: 1000 },
    );
  });

  it('posts what changes or computes, gets the rest', () => {
    expect(methodsOf({ kind: 'server' })).toEqual(['GET']);
    expect(methodsOf({ kind: 'infer', name: 'm', version: '' })).toEqual(['POST']);
    expect(methodsOf({ kind: 'index' })).toEqual(['POST']);
    expect(methodsOf({ kind: 'trace', model: '' })).toEqual(['GET', 'POST']);
  });

  it('leaves valid paths and queries as they are when it escapes broken segments', () => {
    expect(escapeBrokenSegments('/a%20b/%zz/%41?x=%zz')).toBe('/a%20b/%25zz/%41?x=%zz');
    expect(escapeBrokenSegments('/a/b')).toBe('/a/b');
  });
});

describe('calls', () => {
  let served: Served;
  beforeAll(async () => {
    served = await serve();
  });
  afterAll(() => served[Symbol.asyncDispose]());

  const get = (url: string) => served.app.inject({ method: 'GET', url });
  const post = (url: string, payload: string | object = '') => served.app.inject({ method: 'POST', url, payload });

  it.each(['/v2/health/live', '/v2/health/ready', '/v2/models/addsub/ready', '/v2/models/addsub/versions/3/ready'])(
    'GET %s is 200 without a body, as text/plain',
    async (url) => {
      const answer = await get(url);
      expect([answer.statusCode, answer.payload, answer.headers['content-type']]).toEqual([200, '', 'text/plain']);
    },
  );

  it('GET /v2 names server, version and the extensions that are implemented', async () => {
    const answer = await get('/v2');
    expect(answer.json()).toEqual({
      name: 'nereid',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      extensions: [
        'classification',
        'sequence',
        'model_repository',
        'schedule_policy',
        'model_configuration',
        'binary_tensor_data',
        'parameters',
        'statistics',
      ],
    });
    expect(answer.headers['content-type']).toBe('application/json');
  });

  it('GET of a model is its metadata', async () => {
    const tensors = (...names: string[]) => names.map((name) => ({ name, datatype: 'FP32', shape: [-1, 3] }));
    expect((await get('/v2/models/addsub')).json()).toEqual({
      name: 'addsub',
      versions: ['1', '3'],
      platform: 'fake',
      inputs: tensors('a', 'b'),
      outputs: tensors('OUTPUT__0', 'OUTPUT__1'),
    });
    expect((await get('/v2/models/addsub/versions/1?x=1')).json().versions).toEqual(['1']);
  });

  it('GET config is the configuration with proto names', async () => {
    expect((await get('/v2/models/addsub/config')).json()).toMatchObject({
      name: 'addsub',
      max_batch_size: 4,
      backend: 'fake',
    });
  });

  it('GET stats: one version, all versions of a model, all of all models', async () => {
    const rows = async (url: string) =>
      (await get(url)).json().model_stats.map((row: { name: string; version: string }) => `${row.name}/${row.version}`);
    expect(await rows('/v2/models/addsub/versions/1/stats')).toEqual(['addsub/1']);
    expect(await rows('/v2/models/addsub/stats')).toEqual(['addsub/1', 'addsub/3']);
    expect(await rows('/v2/models/stats')).toEqual(expect.arrayContaining(['addsub/1', 'addsub/3', 'picky/1']));
  });

  it('POST index lists the repository; {"ready":true} only what is ready', async () => {
    const all = (await post('/v2/repository/index')).json();
    expect(all).toContainEqual({ name: 'addsub', version: '3', state: 'READY' });
    expect((await post('/v2/repository/index', '{"ready":true}')).json()).toEqual(all);
    expect((await post('/v2/repository/anything/index', '{}')).json()).toEqual(all);
  });

  it('index filters by state', async () => {
    const entries = [{ name: 'a' }, { name: 'b', version: '1', state: 'UNAVAILABLE', reason: 'broken' }] as const;
    await using other = await serve({
      wrap: (engine) =>
        new Proxy(engine, { get: (target, key) => (key === 'index' ? () => entries : Reflect.get(target, key)) }),
    });
    const answers = ['', '{"ready":false}', '{"ready":true}'].map((payload) =>
      other.app.inject({ method: 'POST', url: '/v2/repository/index', payload }),
    );
    expect((await Promise.all(answers)).map((answer) => answer.json())).toEqual([entries, entries, []]);
  });

  it.each(['x', '[]', 'null', '{"ready":1}', '{"ready":"true"}'])('refuses the index body %s', async (body) => {
    const answer = await post('/v2/repository/index', body);
    expect([answer.statusCode, answer.json()]).toEqual([400, { error: expect.any(String) }]);
  });

  it.each([
    ['GET', '/v2/models/nosuch', 404],
    ['GET', '/v2/models/addsub/versions/2', 404],
    ['GET', '/v2/models/nosuch/config', 404],
    ['GET', '/v2/models/nosuch/ready', 400],
    ['GET', '/v2/models/addsub/versions/2/ready', 400],
    ['GET', '/v2/models/nosuch/stats', 400],
    ['GET', '/v2/models/addsub/versions/2/stats', 400],
    ['POST', '/v2/repository/models/addsub/load', 503],
    ['POST', '/v2/repository/models/addsub/unload', 503],
    ['POST', '/v2/repository/other/models/addsub/load', 501],
    ['GET', '/v2/nosuch', 404],
    ['GET', '/', 404],
    ['GET', '/v2/', 404],
    ['POST', '/elsewhere', 404],
  ] as const)('%s %s is %i with an error', async (method, url, status) => {
    const answer = await served.app.inject({
      method,
      url,
      headers: { 'content-type': 'x/y' },
      ...(method === 'POST' ? { payload: '{}' } : {}),
    });
    expect([answer.statusCode, answer.json()]).toEqual([status, { error: expect.any(String) }]);
  });

  it('says how models are loaded when a client tries', async () => {
    expect((await post('/v2/repository/models/addsub/load')).json().error).toContain(
      'explicit model load / unload is not allowed',
    );
  });

  it.each([
    ['POST', '/v2', 'GET'],
    ['DELETE', '/v2/models/addsub', 'GET'],
    ['POST', '/v2/models/addsub/config', 'GET'],
    ['PUT', '/v2/models/addsub/infer', 'POST'],
    ['GET', '/v2/models/addsub/infer', 'POST'],
    ['OPTIONS', '/v2/models/addsub/infer', 'POST'],
    ['PROPFIND', '/v2/models/addsub/infer', 'POST'],
    ['HEAD', '/v2/health/live', 'GET'],
    ['PATCH', '/v2/repository/index', 'POST'],
  ])('%s %s is 405 and tells the method', async (method, path, allow) => {
    const answer = await fetch(served.url + path, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
    expect(await answer.text()).toBe(method === 'HEAD' ? '' : '{"error":"Method Not Allowed"}');
  });

  it('says 404 for unknown models under names that are not validly encoded', async () => {
    for (const name of ['100%', '%zz', '%ff', 'a%20b']) {
      const answer = await fetch(`${served.url}/v2/models/${name}`);
      expect([answer.status, await answer.json()]).toEqual([
        404,
        { error: expect.stringContaining(name === 'a%20b' ? 'a b' : name) },
      ]);
    }
  });

  it('takes names longer than the router would', async () => {
    const name = 'x'.repeat(1000);
    expect((await get(`/v2/models/${name}`)).json().error).toContain(name);
  });

  it('logs a failure that nobody meant whole, and tells the client nothing of it', async () => {
    const secret = new TypeError('secret detail');
    await using other = await serve({
      wrap: (engine) =>
        new Proxy(engine, {
          get: (target, key) => {
            if (key === 'modelMetadata' || key === 'isDecoupled') {
              return () => {
                throw secret;
              };
            }
            const value: unknown = Reflect.get(target, key);
            return typeof value === 'function' ? value.bind(target) : value;
          },
        }),
    });
    for (const request of [
      { path: '/v2/models/addsub' },
      { path: '/v2/models/addsub/infer', method: 'POST', body: '{}' },
    ]) {
      const { path, ...init } = request;
      const answer = await fetch(other.url + path, init);
      expect([answer.status, await answer.text()]).toEqual([
        500,
        '{"error":"internal error; the server\'s log has the details"}',
      ]);
    }
    expect(other.log.errors.map(({ fields }) => fields)).toEqual([{ err: secret }, { err: secret }]);
  });

  it('refuses a prefix, under which no client would look', async () => {
    const app = fastify();
    await expect(app.register(nereidHttp, { engine: served.engine, prefix: '/x' })).rejects.toThrow(
      "without a prefix, found '/x'",
    );
  });
});
