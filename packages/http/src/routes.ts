/**
 * Paths of the protocol. `M` = `/v2/models/NAME[/versions/N]`:
 * `/v2` · `/v2/{openapi.json,docs}` · `/v2/health/{live,ready}` · `/v2/logging` · `M` · `M/{ready,config,stats,infer,generate,generate_stream,weights,openapi.json}` · `/v2/models/stats` ·
 * `/v2/repository[/REPO]/index` ·
 * `/v2/repository[/REPO]/models/NAME/{load,unload}` · `/v2/{system,cuda}sharedmemory[/region/NAME]/{status,unregister}` ·
 * `/v2/{system,cuda}sharedmemory/region/NAME/register` · `/v2[/models/NAME]/trace/setting`, with both methods. Case matters, a trailing slash does not belong, the query is ignored.
 */

type ModelRouteKind = 'model' | 'model-ready' | 'config' | 'stats' | 'weights' | 'model-openapi';

interface ModelAddress {
  readonly name: string;
  /** '' for the latest. */
  readonly version: string;
}

type InferenceRouteKind = 'infer' | 'generate' | 'generate-stream';

/** A call that runs a model; its answer is written to the connection itself. */
export type InferenceRoute = { readonly kind: InferenceRouteKind } & ModelAddress;

type MemoryRouteKind = 'memory-status' | 'memory-register' | 'memory-unregister';

/** A call about shared memory; `region` is '' for all. */
export interface MemoryRoute {
  readonly kind: MemoryRouteKind;
  readonly memory: 'system' | 'cuda';
  readonly region: string;
}

/** A call about settings of traces; `model` is '' for those of all. */
export interface TraceRoute {
  readonly kind: 'trace';
  readonly model: string;
}

export type Route =
  | { readonly kind: 'live' | 'ready' | 'server' | 'openapi' | 'docs' | 'all-stats' | 'index' | 'logging' }
  | ({ readonly kind: ModelRouteKind } & ModelAddress)
  | InferenceRoute
  /** `repository` is '' when the path names none. */
  | { readonly kind: 'load' | 'unload'; readonly name: string; readonly repository: string }
  | MemoryRoute
  | TraceRoute;

const POST_ROUTES: ReadonlySet<Route['kind']> = new Set([
  'infer',
  'generate',
  'generate-stream',
  'weights',
  'index',
  'load',
  'unload',
  'memory-register',
  'memory-unregister',
]);

export function isInference(route: Route): route is InferenceRoute {
  return route.kind === 'infer' || route.kind === 'generate' || route.kind === 'generate-stream';
}

const GET_AND_POST_ROUTES: ReadonlySet<Route['kind']> = new Set(['logging', 'trace']);

/** The methods a route answers to. */
export function methodsOf(route: Route): readonly ('GET' | 'POST')[] {
  if (GET_AND_POST_ROUTES.has(route.kind)) return ['GET', 'POST'];
  return POST_ROUTES.has(route.kind) ? ['POST'] : ['GET'];
}

/** The path of a request target: everything before the query. */
export function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** @returns the route of a path; undefined when there is none */
export function matchRoute(path: string): Route | undefined {
  const [root, api, group, ...rest] = path.split('/');
  if (root !== '' || api !== 'v2') return undefined;
  switch (group) {
    case undefined:
      return { kind: 'server' };
    case 'health':
      return matchHealth(rest);
    case 'logging':
    case 'docs':
      return rest.length === 0 ? { kind: group } : undefined;
    case 'openapi.json':
      return rest.length === 0 ? { kind: 'openapi' } : undefined;
    case 'models':
      return matchModel(rest);
    case 'repository':
      return matchRepository(rest);
    case 'systemsharedmemory':
      return matchMemory('system', rest);
    case 'trace':
      return matchTrace('', rest);
    case 'cudasharedmemory':
      return matchMemory('cuda', rest);
    default:
      return undefined;
  }
}

function matchHealth([probe, ...rest]: readonly string[]): Route | undefined {
  if (rest.length > 0) return undefined;
  return probe === 'live' || probe === 'ready' ? { kind: probe } : undefined;
}

const MODEL_ACTIONS = new Map<string | undefined, ModelRouteKind | InferenceRouteKind>([
  [undefined, 'model'],
  ['ready', 'model-ready'],
  ['config', 'config'],
  ['stats', 'stats'],
  ['infer', 'infer'],
  ['generate', 'generate'],
  ['generate_stream', 'generate-stream'],
  ['weights', 'weights'],
  ['openapi.json', 'model-openapi'],
]);

function matchModel([name, ...rest]: readonly string[]): Route | undefined {
  if (name === undefined || name === '') return undefined;
  if (name === 'stats' && rest.length === 0) return { kind: 'all-stats' };
  const [marker, number] = rest;
  if (marker === 'trace') return matchTrace(decodeName(name), rest.slice(1));
  const version = marker === 'versions' ? versionOf(number) : '';
  if (version === undefined) return undefined;
  const [action, ...extra] = marker === 'versions' ? rest.slice(2) : rest;
  const kind = MODEL_ACTIONS.get(action);
  if (kind === undefined || extra.length > 0) return undefined;
  return { kind, name: decodeName(name), version };
}

function matchTrace(model: string, [word, ...rest]: readonly string[]): TraceRoute | undefined {
  return word === 'setting' && rest.length === 0 ? { kind: 'trace', model } : undefined;
}

function matchRepository(segments: readonly string[]): Route | undefined {
  const isNamed = segments[0] !== 'index' && segments[0] !== 'models';
  const [repository = '', ...rest] = isNamed ? segments : ['', ...segments];
  if (isNamed && repository === '') return undefined;
  const [group, name, action, ...extra] = rest;
  if (group === 'index' && name === undefined) return { kind: 'index' };
  if (group !== 'models' || name === undefined || name === '' || extra.length > 0) return undefined;
  if (action !== 'load' && action !== 'unload') return undefined;
  return { kind: action, name: decodeName(name), repository: decodeName(repository) };
}

const MEMORY_ACTIONS = new Map<string | undefined, MemoryRouteKind>([
  ['status', 'memory-status'],
  ['register', 'memory-register'],
  ['unregister', 'memory-unregister'],
]);

function matchMemory(memory: MemoryRoute['memory'], segments: readonly string[]): MemoryRoute | undefined {
  const isNamed = segments[0] === 'region';
  const [name = '', action, ...extra] = isNamed ? segments.slice(1) : ['', ...segments];
  const kind = MEMORY_ACTIONS.get(action);
  if (kind === undefined || extra.length > 0 || (name === '') === isNamed) return undefined;
  if (kind === 'memory-register' && !isNamed) return undefined;
  return { kind, memory, region: decodeName(name) };
}

/** Decimal version without leading zeros; undefined when it is none. */
function versionOf(text: string | undefined): string | undefined {
  if (text === undefined || !/^\d{1,20}$/.test(text)) return undefined;
  return BigInt(text).toString();
}

/** Undoes percent-encoding; a name that is not validly encoded is taken as it stands. */
function decodeName(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/**
 * The same path with segments that are not validly percent-encoded escaped, so that a router that insists on valid encoding lets it through and
 * `matchRoute` still finds the name as it stood.
 */
export function escapeBrokenSegments(url: string): string {
  if (!url.includes('%')) return url;
  const path = pathOf(url);
  const escaped = path
    .split('/')
    .map((segment) => (decodeName(segment) === segment ? segment.replaceAll('%', '%25') : segment))
    .join('/');
  return escaped + url.slice(path.length);
}
