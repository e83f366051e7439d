/**
 * The OpenAPI document of the server, made from its routes: what stands in `route-descriptions.ts`, with the methods of each route, the category it is
 * restricted under, and the key that a call of it takes on this server.
 */
import type { ApiCategory, ModelMetadata } from '@nereid/serving';
import type { HttpSettings } from '../options.ts';
import { categoryOf } from '../restriction.ts';
import { isInference, matchRoute, methodsOf, type Route } from '../routes.ts';
import { inferenceSchemas } from './model-schemas.ts';
import {
  type BodySchema,
  type FailureStatus,
  type Operation,
  ROUTE_DESCRIPTIONS,
  type RouteDescription,
} from './route-descriptions.ts';
import { ref, SCHEMAS, type Schema } from './schemas.ts';

type Node = Readonly<Record<string, unknown>>;

const FAILURES: Readonly<Record<FailureStatus | 403, string>> = {
  400: 'The request is wrong, or the answer is no.',
  403: 'The call takes a key.',
  404: 'There is no such thing, or it is not ready.',
  500: 'The model or the server failed.',
  501: 'The server or the model does not do that.',
  503: 'Not now: the server is full, stops, or does not allow it.',
};

const PATH_PARAMETERS: Readonly<Record<string, Node>> = {
  model: pathParameter('model', 'Name of a model.', { type: 'string', minLength: 1 }),
  version: pathParameter('version', 'Number of a version of the model.', { type: 'string', pattern: '^\\d{1,20}$' }),
  repository: pathParameter('repository', 'Name of a repository.', { type: 'string', minLength: 1 }),
  region: pathParameter('region', 'Name of a registered region.', { type: 'string', minLength: 1 }),
};

function pathParameter(name: string, description: string, schema: Schema): Node {
  return { name, in: 'path', required: true, description, schema };
}

function header(name: string, description: string, schema: Schema): Node {
  return { name, in: 'header', description, schema };
}

const HEADER_LENGTH = 'Inference-Header-Content-Length';
const HEADER_LENGTH_TEXT = 'Bytes of the JSON in front of raw tensors; absent where all is JSON.';
const ENCODING: Schema = { type: 'string', enum: ['identity', 'gzip', 'deflate'] };
const LOAD_FORMAT = header('endpoint-load-metrics-format', 'Asks how loaded the model is.', {
  type: 'string',
  enum: ['json', 'text'],
});
const INFERENCE_HEADERS: readonly Node[] = [
  header(HEADER_LENGTH, HEADER_LENGTH_TEXT, { type: 'integer', minimum: 0 }),
  header('Content-Encoding', 'How the body is compressed.', ENCODING),
  header('Accept-Encoding', 'How the answer may be compressed.', { type: 'string' }),
  LOAD_FORMAT,
];
const GENERATE_HEADERS: readonly Node[] = [
  header('Content-Encoding', 'How the body is compressed.', ENCODING),
  LOAD_FORMAT,
];
const BINARY = { 'application/octet-stream': {} };
const ANSWER_HEADERS = {
  [HEADER_LENGTH]: { description: HEADER_LENGTH_TEXT, schema: { type: 'integer' } },
  'Content-Encoding': { description: 'How the answer is compressed.', schema: ENCODING },
};
const LOAD_HEADER = {
  'endpoint-load-metrics': { description: 'How loaded the model is, when asked for.', schema: { type: 'string' } },
};

/** Every route of the server. */
export function serverDocument(settings: HttpSettings): string {
  const routes = Object.values(ROUTE_DESCRIPTIONS).flatMap(({ paths }) => Object.entries(paths));
  return JSON.stringify({
    ...rootOf(settings),
    paths: Object.fromEntries(routes.map(([id, path]) => [path, pathItem({ id, path }, settings)])),
    components: componentsOf(settings, SCHEMAS),
  });
}

/**
 * The routes of one model, under its own name and with schemas of its own inputs and outputs.
 * @param version  '' for whichever is the latest
 */
export function modelDocument(model: ModelMetadata, version: string, settings: HttpSettings): string {
  const { examples, ...schemas } = inferenceSchemas(model);
  const marker = version === '' ? '/v2/models/{model}' : '/v2/models/{model}/versions/{version}';
  const routes = Object.values(ROUTE_DESCRIPTIONS)
    .flatMap(({ paths }) => Object.entries(paths))
    .filter(([, path]) => path.startsWith(marker) && path.includes('/versions/') === (version !== ''));
  const place = `/v2/models/${encodeURIComponent(model.name)}${version === '' ? '' : `/versions/${version}`}`;
  const item = (id: string, path: string) => pathItem({ id, path, examples, isFilledIn: true }, settings);
  return JSON.stringify({
    ...rootOf(settings, model.name),
    paths: Object.fromEntries(routes.map(([id, path]) => [path.replace(marker, place), item(id, path)])),
    components: componentsOf(settings, { ...SCHEMAS, ...schemas }),
  });
}

function rootOf({ serverName, serverVersion }: HttpSettings, model?: string): Node {
  const descriptions: readonly RouteDescription[] = Object.values(ROUTE_DESCRIPTIONS);
  const tags = [...new Set(descriptions.map(({ tag }) => tag))];
  return {
    openapi: '3.1.0',
    info: {
      title: model === undefined ? serverName : `${model} on ${serverName}`,
      version: serverVersion,
      description:
        'The KServe v2 inference protocol with the extensions of Triton. Other methods on these paths are answered 405, other paths 404, both with an `Error`.',
    },
    servers: [{ url: '/' }],
    tags: tags.map((name) => ({ name })),
  };
}

function componentsOf(settings: HttpSettings, schemas: Readonly<Record<string, Schema>>): Node {
  const keys = Object.values(ROUTE_DESCRIPTIONS).flatMap(({ paths }) =>
    Object.values(paths).flatMap((path) => {
      const key = keyOf(categoryOf(routeOf(path).kind), settings);
      return key === undefined ? [] : [[key.scheme, { type: 'apiKey', in: 'header', name: key.header }]];
    }),
  );
  return { schemas, ...(keys.length > 0 && { securitySchemes: Object.fromEntries(keys) }) };
}

/** The key that calls of a category take; undefined when they take none. */
function keyOf(category: ApiCategory, { restrictions }: HttpSettings) {
  const name = restrictions?.missingHeader(category, {});
  return name === undefined ? undefined : { scheme: `key-of-${category}`, header: name };
}

/** The route behind a path of the descriptions. */
function routeOf(path: string): Route {
  const route = matchRoute(path.replace('{version}', '1'));
  if (route === undefined) throw new TypeError(`the described path '${path}' is no route`);
  return route;
}

interface DescribedPath {
  readonly id: string;
  readonly path: string;
  /** Whether model and version stand in the path. */
  readonly isFilledIn?: boolean;
  readonly examples?: Readonly<Record<string, unknown>> | undefined;
}

function pathItem(described: DescribedPath, settings: HttpSettings): Node {
  const route = routeOf(described.path);
  const parameters = described.isFilledIn
    ? []
    : [...described.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => PATH_PARAMETERS[name]);
  const operations = methodsOf(route).map((method) => [
    method.toLowerCase(),
    operationNode({ ...described, route, method }, settings),
  ]);
  return { ...(parameters.length > 0 && { parameters }), ...Object.fromEntries(operations) };
}

function operationNode(
  { id, route, method, examples }: DescribedPath & { readonly route: Route; readonly method: 'GET' | 'POST' },
  settings: HttpSettings,
): Node {
  const description: RouteDescription = ROUTE_DESCRIPTIONS[route.kind];
  const operation = description[method];
  if (operation === undefined) throw new TypeError(`${method} of the route '${route.kind}' is not described`);
  const category = categoryOf(route.kind);
  const key = keyOf(category, settings);
  const headers = route.kind === 'infer' ? INFERENCE_HEADERS : isInference(route) ? GENERATE_HEADERS : [];
  const isChange = method === 'POST' && methodsOf(route).length > 1;
  return {
    operationId: isChange ? `update${id.charAt(0).toUpperCase()}${id.slice(1)}` : id,
    tags: [description.tag],
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    ...(headers.length > 0 && { parameters: headers }),
    ...(operation.request !== undefined && { requestBody: requestNode(operation.request, { route, examples }) }),
    responses: responsesNode(operation, { route, isRestricted: key !== undefined }),
    ...(key !== undefined && { security: [{ [key.scheme]: [] }] }),
    'x-api-category': category,
  };
}

const schemaNode = (schema: BodySchema): Schema => (typeof schema === 'string' ? ref(schema) : schema);

function requestNode(
  { schema, isRequired }: NonNullable<Operation['request']>,
  { route, examples }: Pick<DescribedPath, 'examples'> & { readonly route: Route },
): Node {
  const example = typeof schema === 'string' ? examples?.[schema] : undefined;
  return {
    required: isRequired,
    content: {
      'application/json': { schema: schemaNode(schema), ...(example !== undefined && { example }) },
      ...(route.kind === 'infer' && BINARY),
    },
  };
}

function responsesNode(
  { answer, failures }: Operation,
  { route, isRestricted }: { readonly route: Route; readonly isRestricted: boolean },
): Node {
  const failed = [...failures, ...(isRestricted ? [403 as const] : [])];
  return {
    200: {
      description: answer.description,
      ...(isInference(route) && { headers: { ...(route.kind === 'infer' && ANSWER_HEADERS), ...LOAD_HEADER } }),
      ...contentOf(answer, route),
    },
    ...Object.fromEntries(failed.map((status) => [status, failureNode(status, route)])),
  };
}

function contentOf(answer: Operation['answer'], route: Route): Node {
  switch (answer.kind) {
    case 'none':
      return {};
    case 'events':
      return { content: { 'text/event-stream': { schema: { type: 'string' } } } };
    case 'html':
      return { content: { 'text/html': { schema: { type: 'string' } } } };
    case 'json': {
      const json = { 'application/json': { schema: schemaNode(answer.schema) } };
      return { content: { ...json, ...(route.kind === 'infer' && BINARY) } };
    }
    default:
      return answer satisfies never;
  }
}

function failureNode(status: FailureStatus | 403, route: Route): Node {
  const isBare = status === 400 && (route.kind === 'live' || route.kind === 'ready');
  const retry = { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } };
  return {
    description: FAILURES[status],
    ...(status === 503 && isInference(route) && { headers: retry }),
    ...(!isBare && { content: { 'application/json': { schema: ref('Error') } } }),
  };
}
