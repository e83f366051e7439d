import type { IncomingHttpHeaders } from 'node:http';
import type { ApiCategory } from '@nereid/serving';
import { HttpError } from './errors.ts';
import type { HttpSettings } from './options.ts';
import type { Route } from './routes.ts';

const CATEGORIES: Readonly<Record<Route['kind'], ApiCategory>> = {
  live: 'health',
  ready: 'health',
  'model-ready': 'health',
  server: 'metadata',
  model: 'metadata',
  openapi: 'metadata',
  docs: 'metadata',
  'model-openapi': 'metadata',
  config: 'model-config',
  stats: 'statistics',
  'all-stats': 'statistics',
  infer: 'inference',
  generate: 'inference',
  'generate-stream': 'inference',
  index: 'model-repository',
  load: 'model-repository',
  unload: 'model-repository',
  weights: 'model-repository',
  logging: 'logging',
  'memory-status': 'shared-memory',
  'memory-register': 'shared-memory',
  'memory-unregister': 'shared-memory',
  trace: 'trace',
};

/** The category that calls of a route are restricted under. */
export function categoryOf(kind: Route['kind']): ApiCategory {
  return CATEGORIES[kind];
}

/** Why the client may not make a call; undefined when it may. Comes before everything else that may be wrong with it. */
export function restrictionOf(
  kind: Route['kind'],
  headers: IncomingHttpHeaders,
  { restrictions }: HttpSettings,
): HttpError | undefined {
  const missing = restrictions?.missingHeader(CATEGORIES[kind], headers);
  return missing === undefined
    ? undefined
    : new HttpError('restricted', `This API is restricted, expecting header '${missing}'`);
}
