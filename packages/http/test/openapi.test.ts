import { validate } from '@readme/openapi-parser';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUTE_DESCRIPTIONS, type RouteDescription } from '../src/openapi/route-descriptions.ts';
import { matchRoute, methodsOf } from '../src/routes.ts';
import { ADD_SUB_JSON, type Served, serve } from './fixture.ts';

interface Content {
  readonly schema?: object;
  readonly example?: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>>; readonly securitySchemes?: object };
}

async function documentOf(served: Served, path = '/v2/openapi.json', headers = {}): Promise<Document> {
  const answer = await fetch(served.url + path, { headers });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
  return (await answer.json()) as Document;
}

/** What is wrong with a value by a schema of the document. */
function problemsOf(value: unknown, schema: object, { components }: Document): unknown {
  const ajv = new Ajv2020({ strict: false, validateSchema: false });
  const check = ajv.compile({ ...schema, components });
  return check(value) ? [] : check.errors;
}

const DESCRIPTIONS: readonly RouteDescription[] = Object.values(ROUTE_DESCRIPTIONS);
const TEMPLATES = DESCRIPTIONS.flatMap(({ paths }) => Object.values(paths));
const filledIn = (template: string) => template.replace('{version}', '1').replace(/\{\w+\}/g, 'other');
const fits = (path: string, template: string) =>
  new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(path);

describe('the descriptions of routes', () => {
  it.each(Object.entries<RouteDescription>(ROUTE_DESCRIPTIONS))(
    '%s: paths and methods are those of the route',
    (kind, description) => {
      for (const template of Object.values(description.paths)) {
        const route = matchRoute(filledIn(template));
        expect([template, route?.kind]).toEqual([template, kind]);
        const described = [description.GET && 'GET', description.POST && 'POST'].filter(
          (method) => method !== undefined,
        );
        expect(described).toEqual(route && methodsOf(route));
      }
    },
  );

  it('leave out no path: whatever is a route after words were put in, taken out or exchanged is described', () => {
    const words = [...new Set(TEMPLATES.flatMap((template) => filledIn(template).split('/').slice(1)))];
    const edited = (path: string) => {
      const parts = path.split('/');
      return parts.flatMap((_, at) => [
        parts.toSpliced(at, 1).join('/'),
        ...words.flatMap((word) => [
          parts.toSpliced(at, 1, word).join('/'),
          parts.toSpliced(at + 1, 0, word).join('/'),
        ]),
      ]);
    };
    const once = [...new Set(TEMPLATES.map(filledIn).flatMap(edited))];
    const routes = [...new Set([...once, ...once.filter((path) => matchRoute(path)).flatMap(edited)])].flatMap(
      (path) => {
        const route = matchRoute(path);
        return route === undefined ? [] : [{ path, kind: route.kind }];
      },
    );
    expect(routes.length).toBeGreaterThan(1000);
    const missing = routes.filter(
      ({ path, kind }) => !Object.values(ROUTE_DESCRIPTIONS[kind].paths).some((template) => fits(path, template)),
    );
    expect(missing).toEqual([]);
  });
});

const PAGE = { html: '<!doctype html><title>é</title>', contentSecurityPolicy: "default-src 'none'" };

describe('the OpenAPI document', () => {
  let served: Served;
  let document: Document;
  beforeAll(async () => {
    served = await serve({ docsPage: () => PAGE });
    document = await documentOf(served);
  });
  afterAll(() => served[Symbol.asyncDispose]());

  it.each(['/v2/openapi.json', '/v2/models/addsub/openapi.json', '/v2/models/addsub/versions/3/openapi.json'])(
    '%s is valid',
    async (path) => {
      const answer = await fetch(served.url + path);
      expect(await validate((await answer.json()) as Parameters<typeof validate>[0])).toEqual({
        valid: true,
        warnings: [],
        specification: 'OpenAPI',
      });
    },
  );

  it('names every path, and in that of a model the paths of the model', async () => {
    expect(Object.keys(document.paths).sort()).toEqual([...TEMPLATES].sort());
    const paths = Object.keys((await documentOf(served, '/v2/models/addsub/versions/3/openapi.json')).paths);
    const rest = [
      '',
      ...['ready', 'openapi.json', 'config', 'stats', 'infer', 'generate', 'generate_stream', 'weights'].map(
        (word) => `/${word}`,
      ),
    ];
    expect(paths.sort()).toEqual(rest.map((word) => `/v2/models/addsub/versions/3${word}`).sort());
    const latest = Object.keys((await documentOf(served, '/v2/models/addsub/openapi.json')).paths);
    expect(latest.sort()).toEqual([...rest, '/trace/setting'].map((word) => `/v2/models/addsub${word}`).sort());
  });

  it.each<[string, string, number, string]>([
    ['GET', '/v2', 200, ''],
    ['GET', '/v2/health/live', 200, ''],
    ['GET', '/v2/openapi.json', 200, ''],
    ['GET', '/v2/docs', 200, ''],
    ['GET', '/v2/models/addsub', 200, ''],
    ['GET', '/v2/models/addsub/openapi.json', 200, ''],
    ['GET', '/v2/models/nosuch/openapi.json', 404, ''],
    ['GET', '/v2/models/nosuch', 404, ''],
    ['GET', '/v2/models/addsub/versions/3/config', 200, ''],
    ['GET', '/v2/models/addsub/ready', 200, ''],
    ['GET', '/v2/models/nosuch/ready', 400, ''],
    ['GET', '/v2/models/addsub/stats', 200, ''],
    ['GET', '/v2/models/nosuch/stats', 400, ''],
    ['GET', '/v2/models/stats', 200, ''],
    ['POST', '/v2/models/addsub/infer', 200, JSON.stringify(ADD_SUB_JSON)],
    ['POST', '/v2/models/addsub/infer', 400, '{}'],
    ['POST', '/v2/models/picky/infer', 500, '{"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[-1,2]}]}'],
    ['POST', '/v2/models/repeat/infer', 501, '{}'],
    ['POST', '/v2/models/id_bytes/generate', 200, '{"x":"a"}'],
    ['POST', '/v2/models/repeat/generate', 501, '{"x":[1,2]}'],
    ['POST', '/v2/models/nosuch/generate', 404, '{}'],
    ['POST', '/v2/models/repeat/generate_stream', 200, '{"x":[1,2]}'],
    ['POST', '/v2/models/id_bytes/generate_stream', 400, '{"x":1}'],
    ['POST', '/v2/models/addsub/weights', 503, '{"file":"x"}'],
    ['POST', '/v2/repository/index', 200, ''],
    ['POST', '/v2/repository/index', 400, '[]'],
    ['POST', '/v2/repository/models/addsub/load', 503, ''],
    ['POST', '/v2/repository/other/models/addsub/unload', 501, ''],
    ['GET', '/v2/logging', 501, ''],
    ['POST', '/v2/logging', 501, '{}'],
    ['GET', '/v2/trace/setting', 503, ''],
    ['POST', '/v2/models/addsub/trace/setting', 503, '{}'],
    ['GET', '/v2/systemsharedmemory/status', 200, ''],
    ['GET', '/v2/systemsharedmemory/region/r/status', 404, ''],
    ['POST', '/v2/systemsharedmemory/region/r/register', 501, '{"key":"/k","byte_size":1}'],
    ['POST', '/v2/cudasharedmemory/unregister', 501, ''],
  ])('tells what %s %s answers with status %i', async (method, path, status, body) => {
    const kind = matchRoute(path)?.kind;
    const template = TEMPLATES.find((each) => fits(path, each) && matchRoute(filledIn(each))?.kind === kind) ?? '';
    const response = document.paths[template]?.[method.toLowerCase()]?.responses[status];
    expect(response).toBeDefined();
    const answer = await fetch(served.url + path, { method, ...(method === 'POST' && { body }) });
    const text = await answer.text();
    expect([answer.status, text]).toEqual([status, expect.any(String)]);
    const [type = ''] = answer.headers.get('content-type')?.split(';') ?? [];
    if (response?.content === undefined) {
      expect(text).toBe('');
      return;
    }
    expect(Object.keys(response.content)).toContain(type);
    const value: unknown = type === 'application/json' ? JSON.parse(text) : text;
    expect(problemsOf(value, response.content[type]?.schema ?? {}, document)).toEqual([]);
  });

  it('describes each model so that its example is taken and its answer is as described', async () => {
    const index = (await (await fetch(`${served.url}/v2/repository/index`, { method: 'POST' })).json()) as {
      name: string;
    }[];
    const asked: string[] = [];
    for (const { name } of index) {
      const document = await documentOf(served, `/v2/models/${name}/openapi.json`);
      for (const call of ['infer', 'generate']) {
        const path = `/v2/models/${name}/${call}`;
        const { requestBody, responses } = document.paths[path]?.post ?? {};
        const { schema = {}, example } = requestBody?.content['application/json'] ?? {};
        if (example === undefined || name === 'broken' || name === 'repeat') continue;
        expect([path, problemsOf(example, schema, document)]).toEqual([path, []]);
        const answer = await fetch(served.url + path, { method: 'POST', body: JSON.stringify(example) });
        const value: unknown = await answer.json();
        expect([path, answer.status, value]).toEqual([path, 200, expect.anything()]);
        const described = responses?.['200']?.content?.['application/json']?.schema ?? {};
        expect([path, problemsOf(value, described, document)]).toEqual([path, []]);
        asked.push(path);
      }
    }
    // Every model of the fixture but those of FP16 and BF16, which have no JSON form, and those that do not answer once.
    expect(new Set(asked).size).toBe(2 * (new Set(index.map(({ name }) => name)).size - 4));
  });

  it('refuses, by its schemas, what the model refuses', async () => {
    const document = await documentOf(served, '/v2/models/addsub/openapi.json');
    const schema = { $ref: '#/components/schemas/InferRequest' };
    const [a] = ADD_SUB_JSON.inputs;
    const bodies = [
      {},
      { inputs: [] },
      { inputs: [{ ...a, name: 'c' }] },
      { inputs: [{ ...a, datatype: 'FP64' }] },
      { inputs: [{ ...a, shape: [1, 4] }] },
      { inputs: [{ ...a, shape: [3] }] },
      { inputs: [{ ...a, data: ['x'] }] },
      { ...ADD_SUB_JSON, outputs: [{ name: 'nosuch' }] },
    ];
    expect(problemsOf(ADD_SUB_JSON, schema, document)).toEqual([]);
    for (const body of bodies) {
      expect([body, problemsOf(body, schema, document)]).not.toEqual([body, []]);
      const answer = await fetch(`${served.url}/v2/models/addsub/infer`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      expect([body, answer.status]).toEqual([body, 400]);
    }
  });

  it('names the keys of a server that restricts calls, and takes that of metadata itself', async () => {
    const restrictedApis = [{ categories: ['metadata', 'inference'], key: 'Key', value: 's3cret' }] as const;
    await using restricted = await serve({ restrictedApis });
    expect((await fetch(`${restricted.url}/v2/openapi.json`)).status).toBe(403);
    const document = await documentOf(restricted, '/v2/openapi.json', { key: 's3cret' });
    expect(await validate(structuredClone(document) as unknown as Parameters<typeof validate>[0])).toMatchObject({
      valid: true,
    });
    expect(document.components.securitySchemes).toEqual({
      'key-of-metadata': { type: 'apiKey', in: 'header', name: 'key' },
      'key-of-inference': { type: 'apiKey', in: 'header', name: 'key' },
    });
    const infer = document.paths['/v2/models/{model}/infer']?.post;
    expect([infer?.security, infer?.responses['403'] !== undefined]).toEqual([[{ 'key-of-inference': [] }], true]);
    const config = document.paths['/v2/models/{model}/config']?.get;
    expect([config?.security, config?.responses['403']]).toEqual([undefined, undefined]);
    expect(JSON.stringify(document)).not.toContain('s3cret');
  });

  it('has a page beside it, with the policy that it comes with', async () => {
    const answer = await fetch(`${served.url}/v2/docs`);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': PAGE.contentSecurityPolicy,
      'x-content-type-options': 'nosniff',
    });
    expect(await answer.text()).toBe(PAGE.html);
    await using without = await serve();
    expect((await fetch(`${without.url}/v2/docs`)).status).toBe(404);
  });

  it('is not there when it is turned off', async () => {
    await using silent = await serve({ openApi: false });
    for (const path of ['/v2/openapi.json', '/v2/models/addsub/openapi.json'])
      expect([(await fetch(silent.url + path)).status, path]).toEqual([404, path]);
  });
});
