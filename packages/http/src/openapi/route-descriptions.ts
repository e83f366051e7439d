/**
 * What each route is for, in the words of an OpenAPI document: paths, operations, bodies, answers. Which methods a route answers to, what it demands of a
 * client and what that gets when it may not call stand with the routes themselves, and the document takes them from there.
 */
import type { Route } from '../routes.ts';
import type { SchemaName } from './schemas.ts';

/** A body: the JSON of a schema, a schema of its own, text, or nothing. */
export type BodySchema = SchemaName | { readonly [key: string]: unknown };

export interface Operation {
  readonly summary: string;
  readonly description?: string;
  /** Absent where the body is not read. */
  readonly request?: { readonly schema: BodySchema; readonly isRequired: boolean };
  readonly answer: Answer;
  /** Statuses of failures; 403 is added where the server restricts the call. */
  readonly failures: readonly FailureStatus[];
}

type Answer =
  | { readonly kind: 'json'; readonly description: string; readonly schema: BodySchema }
  | { readonly kind: 'none' | 'events' | 'html'; readonly description: string };

export type FailureStatus = 400 | 404 | 500 | 501 | 503;

export interface RouteDescription {
  readonly tag: string;
  /** Paths by the id of their operation: `{model}`, `{version}`, `{repository}` and `{region}` stand for any name. */
  readonly paths: Readonly<Record<string, string>>;
  readonly GET?: Operation;
  readonly POST?: Operation;
}

const MODEL = '/v2/models/{model}';
const VERSION = `${MODEL}/versions/{version}`;

const ofModel = (id: string, action: string) => ({
  [id]: `${MODEL}${action}`,
  [`${id}Version`]: `${VERSION}${action}`,
});

const ofRepository = (id: string, rest: string) => ({
  [id]: `/v2/repository${rest}`,
  [`${id}Named`]: `/v2/repository/{repository}${rest}`,
});

const ofMemory = (id: string, action: string, which: 'each' | 'named') => ({
  ...(which === 'each' && {
    [`${id}System`]: `/v2/systemsharedmemory/${action}`,
    [`${id}Cuda`]: `/v2/cudasharedmemory/${action}`,
  }),
  [`${id}SystemRegion`]: `/v2/systemsharedmemory/region/{region}/${action}`,
  [`${id}CudaRegion`]: `/v2/cudasharedmemory/region/{region}/${action}`,
});

const GENERATE_MAPPING =
  'Members that are inputs of the model become its tensors: a value or a flat array, whose length decides the variable dimensions. All others, and those of `parameters`, become parameters of the request.';

export const ROUTE_DESCRIPTIONS: Readonly<Record<Route['kind'], RouteDescription>> = {
  live: {
    tag: 'Health',
    paths: { serverLive: '/v2/health/live' },
    GET: {
      summary: 'Whether the server is up',
      answer: { kind: 'none', description: 'It is.' },
      failures: [400],
    },
  },
  ready: {
    tag: 'Health',
    paths: { serverReady: '/v2/health/ready' },
    GET: {
      summary: 'Whether the server takes inference requests',
      answer: { kind: 'none', description: 'It does.' },
      failures: [400],
    },
  },
  'model-ready': {
    tag: 'Health',
    paths: ofModel('modelReady', '/ready'),
    GET: {
      summary: 'Whether a model takes inference requests',
      answer: { kind: 'none', description: 'It does.' },
      failures: [400],
    },
  },
  server: {
    tag: 'Metadata',
    paths: { serverMetadata: '/v2' },
    GET: {
      summary: 'Name, version and extensions of the server',
      answer: { kind: 'json', description: 'The metadata.', schema: 'ServerMetadata' },
      failures: [],
    },
  },
  model: {
    tag: 'Metadata',
    paths: ofModel('modelMetadata', ''),
    GET: {
      summary: 'Inputs and outputs of a model, and its ready versions',
      answer: { kind: 'json', description: 'The metadata.', schema: 'ModelMetadata' },
      failures: [400, 404],
    },
  },
  openapi: {
    tag: 'Metadata',
    paths: { openApi: '/v2/openapi.json' },
    GET: {
      summary: 'This document',
      answer: { kind: 'json', description: 'An OpenAPI 3.1 document.', schema: 'OpenApiDocument' },
      failures: [404],
    },
  },
  docs: {
    tag: 'Metadata',
    paths: { docs: '/v2/docs' },
    GET: {
      summary: 'A page on which a person tries the models',
      answer: { kind: 'html', description: 'The page.' },
      failures: [404],
    },
  },
  'model-openapi': {
    tag: 'Metadata',
    paths: ofModel('modelOpenApi', '/openapi.json'),
    GET: {
      summary: 'The calls of one model, with its own inputs and outputs',
      answer: { kind: 'json', description: 'An OpenAPI 3.1 document.', schema: 'OpenApiDocument' },
      failures: [400, 404],
    },
  },
  config: {
    tag: 'Model configuration',
    paths: ofModel('modelConfig', '/config'),
    GET: {
      summary: 'Configuration of a model, completed with defaults',
      answer: { kind: 'json', description: 'The configuration.', schema: 'ModelConfig' },
      failures: [400, 404],
    },
  },
  stats: {
    tag: 'Statistics',
    paths: ofModel('modelStatistics', '/stats'),
    GET: {
      summary: 'Statistics of a model',
      answer: { kind: 'json', description: 'An entry per ready version.', schema: 'ModelStatistics' },
      failures: [400],
    },
  },
  'all-stats': {
    tag: 'Statistics',
    paths: { allStatistics: '/v2/models/stats' },
    GET: {
      summary: 'Statistics of every model',
      answer: { kind: 'json', description: 'An entry per ready version of each model.', schema: 'ModelStatistics' },
      failures: [],
    },
  },
  infer: {
    tag: 'Inference',
    paths: ofModel('infer', '/infer'),
    POST: {
      summary: 'Run a model',
      description:
        'Tensors go as JSON, or as raw little-endian bytes behind the JSON: the header `Inference-Header-Content-Length` then tells where the JSON ends, and `binary_data_size` how many bytes each tensor has, in the order of the list. A header length of 0 means that the whole body is the bytes of the only input.',
      request: { schema: 'InferRequest', isRequired: true },
      answer: { kind: 'json', description: 'The outputs.', schema: 'InferResponse' },
      failures: [400, 404, 500, 501, 503],
    },
  },
  generate: {
    tag: 'Inference',
    paths: ofModel('generate', '/generate'),
    POST: {
      summary: 'Run a model that answers once, with plain JSON',
      description: GENERATE_MAPPING,
      request: { schema: 'GenerateRequest', isRequired: true },
      answer: { kind: 'json', description: 'The outputs by name.', schema: 'GenerateResponse' },
      failures: [400, 404, 500, 501, 503],
    },
  },
  'generate-stream': {
    tag: 'Inference',
    paths: ofModel('generateStream', '/generate_stream'),
    POST: {
      summary: 'Run a model and take its answers as they come',
      description: GENERATE_MAPPING,
      request: { schema: 'GenerateRequest', isRequired: true },
      answer: {
        kind: 'events',
        description:
          'Server-sent events: `data: ` and a `GenerateResponse` for each answer; a failure is `data: ` and an `Error`, and the last. The status is that of the first event.',
      },
      failures: [400, 404, 500, 501, 503],
    },
  },
  index: {
    tag: 'Model repository',
    paths: ofRepository('repositoryIndex', '/index'),
    POST: {
      summary: 'Models, their versions and states',
      request: {
        schema: { type: 'object', properties: { ready: { type: 'boolean', description: 'Only what is ready.' } } },
        isRequired: false,
      },
      answer: { kind: 'json', description: 'An entry per version.', schema: 'RepositoryIndex' },
      failures: [400],
    },
  },
  load: {
    tag: 'Model repository',
    paths: ofRepository('load', '/models/{model}/load'),
    POST: {
      summary: 'Load a model',
      answer: { kind: 'none', description: 'It is loaded.' },
      failures: [501, 503],
    },
  },
  unload: {
    tag: 'Model repository',
    paths: ofRepository('unload', '/models/{model}/unload'),
    POST: {
      summary: 'Unload a model',
      answer: { kind: 'none', description: 'It is unloaded.' },
      failures: [501, 503],
    },
  },
  weights: {
    tag: 'Model repository',
    paths: ofModel('updateWeights', '/weights'),
    POST: {
      summary: 'Exchange the weights of a model while it serves',
      description: 'Each batch has all old or all new weights. The server allows it with `--allow-weight-updates`.',
      request: {
        schema: {
          type: 'object',
          required: ['file'],
          properties: { file: { type: 'string', description: 'Path inside the model directory.' } },
        },
        isRequired: true,
      },
      answer: { kind: 'json', description: 'Which weights were exchanged.', schema: 'WeightsReport' },
      failures: [400, 404, 500, 501, 503],
    },
  },
  logging: {
    tag: 'Logging',
    paths: { logSettings: '/v2/logging' },
    GET: {
      summary: 'Settings of the log',
      answer: { kind: 'json', description: 'The settings.', schema: 'LogSettings' },
      failures: [501],
    },
    POST: {
      summary: 'Change settings of the log',
      description: 'Settings that are left out or null stay. `log_file` cannot be changed.',
      request: { schema: 'LogSettings', isRequired: false },
      answer: { kind: 'json', description: 'The settings that hold now.', schema: 'LogSettings' },
      failures: [400, 501],
    },
  },
  trace: {
    tag: 'Trace',
    paths: { traceSettings: '/v2/trace/setting', modelTraceSettings: `${MODEL}/trace/setting` },
    GET: {
      summary: 'Settings of traces',
      answer: { kind: 'json', description: 'The settings.', schema: 'TraceSettings' },
      failures: [400, 503],
    },
    POST: {
      summary: 'Change settings of traces',
      description: 'Settings that are left out stay; null brings back what holds for the server.',
      request: { schema: 'TraceSettingChanges', isRequired: false },
      answer: { kind: 'json', description: 'The settings that hold now.', schema: 'TraceSettings' },
      failures: [400, 501, 503],
    },
  },
  'memory-status': {
    tag: 'Shared memory',
    paths: ofMemory('memoryStatus', 'status', 'each'),
    GET: {
      summary: 'Regions that clients registered',
      answer: { kind: 'json', description: 'The regions.', schema: 'MemoryRegions' },
      failures: [400, 404, 501],
    },
  },
  'memory-register': {
    tag: 'Shared memory',
    paths: ofMemory('memoryRegister', 'register', 'named'),
    POST: {
      summary: 'Register a region',
      description: 'The server allows it with `--allow-shared-memory`. It has no CUDA shared memory.',
      request: { schema: 'MemoryRegistration', isRequired: true },
      answer: { kind: 'none', description: 'It is registered.' },
      failures: [400, 501],
    },
  },
  'memory-unregister': {
    tag: 'Shared memory',
    paths: ofMemory('memoryUnregister', 'unregister', 'each'),
    POST: {
      summary: 'Forget a region, or all',
      answer: { kind: 'none', description: 'It is forgotten.' },
      failures: [400, 501],
    },
  },
};
