/**
 * Every option of the server, as data. Names, meanings and defaults are Triton's unless `ours` is set; an option with `ignored` is accepted so that existing
 * start lines keep working, and answered with one warning that says why it has no effect.
 */

export type FlagGroup =
  | 'Models'
  | 'HTTP'
  | 'gRPC'
  | 'Metrics'
  | 'Scheduling'
  | 'Logging'
  | 'Tracing'
  | 'Process'
  | 'Accepted without effect';

interface FlagBase {
  readonly group: FlagGroup;
  readonly help: string;
  /** Why the option has no effect; it is then accepted and warned about. */
  readonly ignored?: string;
  readonly alias?: string;
  /** The option is not one of Triton, though its alias is; the beginnings of names that are go before those of it. */
  readonly ours?: true;
  /** The value is a path, after these characters; in a file of options it is then relative to that file. */
  readonly path?: string;
}

/** How a map in a file of options is written as a value. */
export interface MapForm {
  /** Stands between key and value. */
  readonly sign: '=' | ':';
  /** Maps in one another: 1 is `key=value`, 2 also `name,key=value`, 3 also `name,key=key=value`. */
  readonly depth: 1 | 2 | 3;
}

export type Flag = FlagBase &
  (
    | { readonly kind: 'bool'; readonly default: boolean }
    /** A bool that needs no value. */
    | { readonly kind: 'flag'; readonly default: boolean }
    | {
        readonly kind: 'int' | 'float';
        readonly default: number;
        readonly min: number;
        readonly max: number;
        readonly unit?: string;
      }
    | { readonly kind: 'string'; readonly default: string; readonly placeholder: string }
    | {
        readonly kind: 'list';
        readonly default: readonly string[];
        readonly placeholder: string;
        readonly map?: MapForm;
      }
    | { readonly kind: 'choice'; readonly default: string; readonly choices: readonly string[] }
    /** Accepted in any form; never read. */
    | { readonly kind: 'any'; readonly default: undefined }
  );

const PORT_MAX = 65_535;
const INT_MAX = 2_147_483_647;

const NO_GPU = 'this build runs on the CPU';
const NO_CACHE = 'there is no response cache in this version';
const OTHER_CLOUD = 'this front end is not part of Nereid';

const ignored = (why: string) =>
  ({ kind: 'any', default: undefined, group: 'Accepted without effect', help: why, ignored: why }) as const;

export const FLAGS = {
  'model-repository': {
    kind: 'list',
    default: [],
    placeholder: 'DIR',
    alias: 'model-store',
    path: '',
    group: 'Models',
    help: 'Directory of model directories; may be repeated. Required unless a FILE is given.',
  },
  'model-name': {
    ours: true,
    kind: 'list',
    default: [],
    placeholder: 'NAME',
    group: 'Models',
    help: 'Name of the model that a FILE is served as; may be repeated, one for each FILE. Default: the name of the file.',
  },
  'model-control-mode': {
    kind: 'choice',
    default: 'none',
    choices: ['none', 'poll', 'explicit'],
    group: 'Models',
    help: 'When models are loaded. This version serves "none": everything once, at start.',
  },
  'exit-on-error': {
    kind: 'bool',
    default: false,
    group: 'Models',
    help: 'End the process with exit code 1 when a model fails to load at start; otherwise serve the others. True when a FILE is given.',
  },
  'strict-readiness': {
    kind: 'bool',
    default: true,
    group: 'Models',
    help: 'Report ready only while every known model version is ready.',
  },
  'disable-auto-complete-config': {
    kind: 'flag',
    default: false,
    group: 'Models',
    help: 'Take configurations as they are, instead of completing them from model files: every model then needs a whole config.pbtxt.',
  },
  'strict-model-config': {
    kind: 'bool',
    default: false,
    group: 'Models',
    help: 'Deprecated spelling of --disable-auto-complete-config.',
  },
  'model-config-name': {
    kind: 'string',
    default: '',
    placeholder: 'NAME',
    group: 'Models',
    help: 'Use configs/NAME.pbtxt of a model where it exists, instead of its config.pbtxt.',
  },
  'backend-config': {
    kind: 'list',
    default: [],
    placeholder: '[BACKEND,]KEY=VALUE',
    map: { sign: '=', depth: 2 },
    group: 'Models',
    help: 'Setting of a backend; may be repeated. default-max-batch-size is the largest batch of a model that batches without a bound. Default 4.',
  },
  'backend-directory': {
    kind: 'string',
    default: '',
    placeholder: 'DIR',
    path: '',
    group: 'Models',
    help: 'Directory with a directory per backend, in which batching strategies are looked for last: DIR/pytorch/batchstrategy.so. Its code runs in the server.',
  },
  'custom-ops': {
    ours: true,
    kind: 'list',
    default: [],
    placeholder: 'LIBRARY',
    path: '',
    group: 'Models',
    help: 'Shared library with operators outside torch, opened before the first model; may be repeated. Its code runs in the server.',
  },
  'allow-weight-updates': {
    ours: true,
    kind: 'bool',
    default: false,
    group: 'Models',
    help: 'Let clients exchange the weights of compiled packages for those of a file in the model directory (POST …/weights).',
  },
  'allow-shared-memory': {
    ours: true,
    kind: 'bool',
    default: false,
    alias: 'allow-client-shm',
    group: 'Process',
    help: 'Let clients register system shared memory (objects in /dev/shm) and keep tensors of requests there.',
  },
  'shared-memory-max-regions': {
    ours: true,
    kind: 'int',
    default: 1024,
    min: 1,
    max: INT_MAX,
    unit: 'regions',
    group: 'Process',
    help: 'Regions of shared memory that clients may have registered at a time.',
  },
  'model-load-thread-count': {
    kind: 'int',
    default: 4,
    min: 1,
    max: INT_MAX,
    group: 'Models',
    help: 'Model versions that load at the same time.',
  },
  'model-load-retry-count': {
    kind: 'int',
    default: 0,
    min: 0,
    max: INT_MAX,
    group: 'Models',
    help: 'How often a load that failed is tried again.',
  },

  'allow-http': { kind: 'bool', default: true, group: 'HTTP', help: 'Serve the HTTP protocol.' },
  'http-address': {
    kind: 'string',
    default: '127.0.0.1',
    placeholder: 'ADDRESS',
    path: 'unix:',
    group: 'HTTP',
    help: 'Address to listen on; 0.0.0.0 opens the server to the network, ipv6:[::1] listens on IPv6, unix:PATH on a socket in the file system.',
  },
  'http-port': {
    kind: 'int',
    default: 8000,
    min: 0,
    max: PORT_MAX,
    group: 'HTTP',
    help: 'Port to listen on; 0 takes a free one.',
  },
  'reuse-http-port': {
    kind: 'bool',
    default: false,
    group: 'HTTP',
    help: 'Let several processes listen on the port; the system shares connections out among them. Needs Node.js 22.12 or newer.',
  },
  'http-max-input-size': {
    kind: 'int',
    default: 67_108_864,
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    unit: 'bytes',
    group: 'HTTP',
    help: 'Largest JSON header, JSON tensor or raw body of a request.',
  },
  'http-max-body-size': {
    ours: true,
    kind: 'int',
    default: 2_147_483_647,
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    unit: 'bytes',
    group: 'HTTP',
    help: 'Largest request body in all, binary tensors included.',
  },
  'http-headers-timeout-ms': {
    ours: true,
    kind: 'int',
    default: 60_000,
    min: 0,
    max: INT_MAX,
    unit: 'ms',
    group: 'HTTP',
    help: 'Time a client has to send its headers; 0 waits for ever.',
  },
  'http-request-timeout-ms': {
    ours: true,
    kind: 'int',
    default: 300_000,
    min: 0,
    max: INT_MAX,
    unit: 'ms',
    group: 'HTTP',
    help: 'Time a client has to send a whole request; 0 waits for ever.',
  },
  'http-keep-alive-timeout-ms': {
    ours: true,
    kind: 'int',
    default: 3_600_000,
    min: 0,
    max: INT_MAX,
    unit: 'ms',
    group: 'HTTP',
    help: 'Time an idle connection stays open; 0 keeps it for ever.',
  },
  'http-max-call-size': {
    ours: true,
    kind: 'int',
    default: 1_048_576,
    min: 1,
    max: INT_MAX,
    unit: 'bytes',
    group: 'HTTP',
    help: 'Largest body of a call that runs no model: trace and log settings, shared memory and the like.',
  },
  'http-max-head-size': {
    ours: true,
    kind: 'int',
    default: 65_536,
    min: 1,
    max: INT_MAX,
    unit: 'bytes',
    group: 'HTTP',
    help: 'Largest head of a request: its first line and headers.',
  },
  'http-max-json-depth': {
    ours: true,
    kind: 'int',
    default: 100,
    min: 1,
    max: INT_MAX,
    unit: 'levels',
    group: 'HTTP',
    help: 'Deepest nesting of JSON in a request.',
  },
  'http-max-json-values': {
    ours: true,
    kind: 'int',
    default: 65_536,
    min: 1,
    max: INT_MAX,
    unit: 'values',
    group: 'HTTP',
    help: 'JSON values of a request beside the data of its tensors.',
  },
  'http-max-tensors': {
    ours: true,
    kind: 'int',
    default: 1024,
    min: 1,
    max: INT_MAX,
    unit: 'tensors',
    group: 'HTTP',
    help: 'Inputs of a request, and outputs that it asks for.',
  },
  'http-send-timeout-ms': {
    ours: true,
    kind: 'int',
    default: 60_000,
    min: 0,
    max: INT_MAX,
    unit: 'ms',
    group: 'HTTP',
    help: 'Time a client may take no byte of an answer that waits for it; then its connection is closed. 0 waits for ever.',
  },
  'http-max-waiting-size': {
    ours: true,
    kind: 'int',
    default: 67_108_864,
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    unit: 'bytes',
    group: 'HTTP',
    help: 'Events of a stream (generate_stream) that may wait for a client that reads slowly; beyond it its request is cancelled.',
  },
  'http-restricted-api': {
    kind: 'list',
    default: [],
    placeholder: 'CATEGORY[,CATEGORY]:KEY=VALUE',
    map: { sign: ':', depth: 1 },
    group: 'HTTP',
    help: 'Answer calls of these categories only with the header "KEY: VALUE", others 403; may be repeated. Categories: health, metadata, inference, shared-memory, model-config, model-repository, statistics, trace, logging.',
  },
  'http-header-forward-pattern': {
    kind: 'string',
    default: '',
    placeholder: 'REGEX',
    group: 'HTTP',
    help: 'Headers of an inference whose names match become parameters of the request, which the model sees; (?-i) tells capitals apart.',
  },
  'http-use-ssl': { ours: true, kind: 'bool', default: false, group: 'HTTP', help: 'Serve over TLS (HTTPS).' },
  'http-use-ssl-mutual': {
    ours: true,
    kind: 'bool',
    default: false,
    group: 'HTTP',
    help: 'Demand a certificate of every client; serves over TLS.',
  },
  'http-server-cert': {
    ours: true,
    kind: 'string',
    default: '',
    placeholder: 'FILE',
    path: '',
    group: 'HTTP',
    help: 'Certificate chain of the server, PEM.',
  },
  'http-server-key': {
    ours: true,
    kind: 'string',
    default: '',
    placeholder: 'FILE',
    path: '',
    group: 'HTTP',
    help: 'Private key of the server, PEM.',
  },
  'http-root-cert': {
    ours: true,
    kind: 'string',
    default: '',
    placeholder: 'FILE',
    path: '',
    group: 'HTTP',
    help: 'Authorities whose client certificates are taken, PEM.',
  },
  'http-docs': {
    ours: true,
    kind: 'bool',
    default: true,
    group: 'HTTP',
    help: 'Serve a page to try the models at /v2/docs, and OpenAPI documents at /v2/openapi.json and /v2/models/NAME/openapi.json.',
  },
  'http-cors-origin': {
    ours: true,
    kind: 'list',
    default: [],
    placeholder: 'ORIGIN',
    group: 'HTTP',
    help: 'Origin whose pages may call from a browser, e.g. https://example.com, or * for all; may be repeated.',
  },

  'allow-grpc': { kind: 'bool', default: true, group: 'gRPC', help: 'Serve the gRPC protocol.' },
  'grpc-address': {
    kind: 'string',
    default: '127.0.0.1',
    placeholder: 'ADDRESS',
    path: 'unix:',
    group: 'gRPC',
    help: 'Address to listen on; 0.0.0.0 opens the server to the network, ipv6:[::1] listens on IPv6, unix:PATH on a socket in the file system.',
  },
  'grpc-port': {
    kind: 'int',
    default: 8001,
    min: 0,
    max: PORT_MAX,
    group: 'gRPC',
    help: 'Port to listen on; 0 takes a free one, and so does leaving it out with --http-port=0.',
  },
  'reuse-grpc-port': {
    kind: 'bool',
    default: false,
    group: 'gRPC',
    help: 'Let several processes listen on the port; the system shares connections out among them. Needs Node.js 22.12 or newer.',
  },
  'grpc-max-message-size': {
    ours: true,
    kind: 'int',
    default: 2_147_483_647,
    min: 1,
    max: INT_MAX,
    unit: 'bytes',
    group: 'gRPC',
    help: 'Largest message of a client.',
  },
  'grpc-max-input-size': {
    ours: true,
    kind: 'int',
    default: 67_108_864,
    min: 1,
    max: INT_MAX,
    unit: 'bytes',
    group: 'gRPC',
    help: 'Largest typed contents of an input, and largest message after decompression; raw contents are bounded by the message.',
  },
  'grpc-max-call-size': {
    ours: true,
    kind: 'int',
    default: 1_048_576,
    min: 1,
    max: INT_MAX,
    unit: 'bytes',
    group: 'gRPC',
    help: 'Largest message of a call that runs no model.',
  },
  'grpc-max-tensors': {
    ours: true,
    kind: 'int',
    default: 1024,
    min: 1,
    max: INT_MAX,
    unit: 'tensors',
    group: 'gRPC',
    help: 'Inputs of a request, and outputs that it asks for.',
  },
  'grpc-max-parameters': {
    ours: true,
    kind: 'int',
    default: 1024,
    min: 1,
    max: INT_MAX,
    unit: 'parameters',
    group: 'gRPC',
    help: 'Parameters of a request, an input or an output.',
  },
  'grpc-max-fields': {
    ours: true,
    kind: 'int',
    default: 65_536,
    min: 1,
    max: INT_MAX,
    unit: 'fields',
    group: 'gRPC',
    help: 'Fields of a request beside the typed contents of its tensors.',
  },
  'grpc-max-dimensions': {
    ours: true,
    kind: 'int',
    default: 1024,
    min: 1,
    max: INT_MAX,
    unit: 'dimensions',
    group: 'gRPC',
    help: 'Dimensions of an input.',
  },
  'grpc-max-concurrent-calls': {
    ours: true,
    kind: 'int',
    default: 4096,
    min: 1,
    max: INT_MAX,
    unit: 'calls',
    group: 'gRPC',
    help: 'Calls of one connection at a time; more wait at the client.',
  },
  'grpc-max-metadata-size': {
    ours: true,
    kind: 'int',
    default: 65_536,
    min: 1,
    max: INT_MAX,
    unit: 'bytes',
    group: 'gRPC',
    help: 'Metadata of a call, 32 bytes a field beside its name and value; beyond it RESOURCE_EXHAUSTED.',
  },
  'grpc-call-window-size': {
    ours: true,
    kind: 'int',
    default: 8_388_608,
    min: 65_535,
    max: INT_MAX,
    unit: 'bytes',
    group: 'gRPC',
    help: 'What a client may send on one call before some of it is read.',
  },
  'grpc-connection-window-size': {
    ours: true,
    kind: 'int',
    default: 16_777_216,
    min: 65_535,
    max: INT_MAX,
    unit: 'bytes',
    group: 'gRPC',
    help: 'What a client may send on all calls of a connection before some of it is read.',
  },
  'grpc-max-frame-size': {
    ours: true,
    kind: 'int',
    default: 1_048_576,
    min: 16_384,
    max: 16_777_215,
    unit: 'bytes',
    group: 'gRPC',
    help: 'Longest frame of HTTP/2.',
  },
  'grpc-max-resets': {
    ours: true,
    kind: 'int',
    default: 1000,
    min: 1,
    max: INT_MAX,
    unit: 'calls',
    group: 'gRPC',
    help: 'Calls of a connection that may be taken back or broken at once; beyond it the connection is ended (ENHANCE_YOUR_CALM).',
  },
  'grpc-max-resets-per-second': {
    ours: true,
    kind: 'int',
    default: 100,
    min: 1,
    max: INT_MAX,
    unit: 'calls',
    group: 'gRPC',
    help: 'The same over time.',
  },
  'grpc-max-idle-frames': {
    ours: true,
    kind: 'int',
    default: 1000,
    min: 1,
    max: INT_MAX,
    unit: 'frames',
    group: 'gRPC',
    help: 'Frames of a connection that ask for nothing of a call (pings, settings, empty data) at once; beyond it the connection is ended.',
  },
  'grpc-max-idle-frames-per-second': {
    ours: true,
    kind: 'int',
    default: 100,
    min: 1,
    max: INT_MAX,
    unit: 'frames',
    group: 'gRPC',
    help: 'The same over time.',
  },
  'grpc-max-control-size': {
    ours: true,
    kind: 'int',
    default: 65_536,
    min: 1,
    max: INT_MAX,
    unit: 'bytes',
    group: 'gRPC',
    help: 'Answers to such frames that may wait for a client that does not read; beyond it the connection is ended.',
  },
  'grpc-begin-timeout-ms': {
    ours: true,
    kind: 'int',
    default: 10_000,
    min: 1,
    max: INT_MAX,
    unit: 'ms',
    group: 'gRPC',
    help: 'Time in which a connection must have begun as one of HTTP/2.',
  },
  'grpc-max-stream-requests': {
    ours: true,
    kind: 'int',
    default: 1024,
    min: 1,
    max: INT_MAX,
    unit: 'requests',
    group: 'gRPC',
    help: 'Requests of one stream under way; no more are read until one is answered.',
  },
  'grpc-max-waiting-size': {
    ours: true,
    kind: 'int',
    default: 67_108_864,
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    unit: 'bytes',
    group: 'gRPC',
    help: 'Answers of one stream that may wait for a client that reads slowly; no more requests are read then.',
  },
  'grpc-infer-response-compression-level': {
    kind: 'choice',
    default: 'none',
    choices: ['none', 'low', 'medium', 'high'],
    group: 'gRPC',
    help: 'How much answers are compressed, for clients that take it.',
  },
  'grpc-use-ssl': { kind: 'bool', default: false, group: 'gRPC', help: 'Serve over TLS.' },
  'grpc-use-ssl-mutual': {
    kind: 'bool',
    default: false,
    group: 'gRPC',
    help: 'Demand a certificate of every client; serves over TLS.',
  },
  'grpc-server-cert': {
    kind: 'string',
    default: '',
    placeholder: 'FILE',
    path: '',
    group: 'gRPC',
    help: 'Certificate chain of the server, PEM.',
  },
  'grpc-server-key': {
    kind: 'string',
    default: '',
    placeholder: 'FILE',
    path: '',
    group: 'gRPC',
    help: 'Private key of the server, PEM.',
  },
  'grpc-root-cert': {
    kind: 'string',
    default: '',
    placeholder: 'FILE',
    path: '',
    group: 'gRPC',
    help: 'Authorities whose client certificates are taken, PEM.',
  },
  'grpc-restricted-protocol': {
    kind: 'list',
    default: [],
    placeholder: 'CATEGORY[,CATEGORY]:KEY=VALUE',
    map: { sign: ':', depth: 1 },
    group: 'gRPC',
    help: 'Answer calls of these categories only with the metadata "triton-grpc-protocol-KEY: VALUE", others UNAVAILABLE; may be repeated. Categories as for HTTP.',
  },
  'grpc-header-forward-pattern': {
    kind: 'string',
    default: '',
    placeholder: 'REGEX',
    group: 'gRPC',
    help: 'Metadata of an inference whose names match become parameters of the request, which the model sees.',
  },
  'grpc-keepalive-time': {
    kind: 'int',
    default: 7_200_000,
    min: 0,
    max: INT_MAX,
    unit: 'ms',
    group: 'gRPC',
    help: 'A client that was not heard of for so long is asked with a PING, before twice that time; 0 asks never.',
  },
  'grpc-keepalive-timeout': {
    kind: 'int',
    default: 20_000,
    min: 0,
    max: INT_MAX,
    unit: 'ms',
    group: 'gRPC',
    help: 'Time it has to answer; then its connection is ended, and its calls are cancelled.',
  },
  'grpc-keepalive-permit-without-calls': {
    kind: 'bool',
    default: false,
    group: 'gRPC',
    help: 'Ask connections without calls too, and let their clients ask as often as those with calls.',
  },
  'grpc-http2-max-pings-without-data': {
    kind: 'int',
    default: 0,
    min: 0,
    max: INT_MAX,
    group: 'gRPC',
    help: 'PINGs in a row that a client is sent while it is sent nothing else; 0 sets no bound.',
  },
  'grpc-http2-min-recv-ping-interval-without-data': {
    kind: 'int',
    default: 300_000,
    min: 0,
    max: INT_MAX,
    unit: 'ms',
    group: 'gRPC',
    help: 'Time between two PINGs of a client that is sent nothing else; two hours without calls.',
  },
  'grpc-http2-max-ping-strikes': {
    kind: 'int',
    default: 2,
    min: 0,
    max: INT_MAX,
    group: 'gRPC',
    help: 'PINGs of a client that may come too early; one more ends its connection (ENHANCE_YOUR_CALM, too_many_pings). 0 sets no bound.',
  },
  'grpc-max-connection-age': {
    kind: 'int',
    default: 0,
    min: 0,
    max: INT_MAX,
    unit: 'ms',
    group: 'gRPC',
    help: 'Age, a tenth more or less, at which a client is told to open another connection; 0 keeps it for as long as the client wants.',
  },
  'grpc-max-connection-age-grace': {
    kind: 'int',
    default: 0,
    min: 0,
    max: INT_MAX,
    unit: 'ms',
    group: 'gRPC',
    help: 'Time that the calls of such a connection have to end; 0 lets them take what they need.',
  },

  'allow-metrics': { kind: 'bool', default: true, group: 'Metrics', help: 'Serve Prometheus metrics: GET /metrics.' },
  'metrics-address': {
    kind: 'string',
    default: '',
    placeholder: 'ADDRESS',
    group: 'Metrics',
    help: 'Address to listen on. Default: that of HTTP.',
  },
  'metrics-port': {
    kind: 'int',
    default: 8002,
    min: 0,
    max: PORT_MAX,
    group: 'Metrics',
    help: 'Port to listen on; 0 takes a free one, and so does leaving it out with --http-port=0.',
  },
  'metrics-interval-ms': {
    kind: 'float',
    default: 2000,
    min: 1,
    max: INT_MAX,
    unit: 'ms',
    group: 'Metrics',
    help: 'Time between two readings of the use of the CPU.',
  },
  'allow-cpu-metrics': {
    kind: 'bool',
    default: true,
    group: 'Metrics',
    help: 'Tell the use of the CPUs and of the memory of the machine (nv_cpu_...).',
  },
  'metrics-config': {
    kind: 'list',
    default: [],
    placeholder: 'KEY=VALUE',
    map: { sign: '=', depth: 1 },
    group: 'Metrics',
    help: 'counter_latencies=BOOL (true): counters of durations; histogram_latencies=BOOL (false): time to the first response; summary_latencies=BOOL (false): quantiles of durations over the last minute, those of summary_quantiles=QUANTILE:ERROR,... (0.5:0.05,0.9:0.01,0.95:0.001,0.99:0.001,0.999:0.001). Repeatable.',
  },

  'max-queue-size': {
    ours: true,
    kind: 'int',
    default: 10_000,
    min: 0,
    max: INT_MAX,
    unit: 'requests',
    group: 'Scheduling',
    help: 'Requests that may wait per model version; more are answered 503. 0 sets no limit.',
  },
  'inline-max-run-us': {
    ours: true,
    kind: 'int',
    default: 100,
    min: 0,
    max: 1_000_000,
    unit: 'us',
    group: 'Scheduling',
    help: 'A model that runs no longer than this is run on the loop thread while no other request is in flight; 0 turns that off.',
  },
  'decoupled-max-waiting-responses': {
    ours: true,
    kind: 'int',
    default: 16,
    min: 1,
    max: INT_MAX,
    unit: 'responses',
    alias: 'grpc-max-response-pool-size',
    group: 'Scheduling',
    help: 'Responses of one request to a decoupled model that its client may not have taken yet; the model makes no more until one is.',
  },
  'decoupled-max-streams': {
    ours: true,
    kind: 'int',
    default: 16,
    min: 1,
    max: INT_MAX,
    unit: 'requests',
    group: 'Scheduling',
    help: 'Requests to a decoupled model that one of its instances answers side by side; others wait in the queue.',
  },

  'rate-limit': {
    kind: 'choice',
    default: 'off',
    choices: ['off', 'execution_count'],
    group: 'Scheduling',
    help: 'When batches run: "off" as soon as an instance is free; "execution_count" once what the rate_limiter of its group demands is free, in turn by priority.',
  },
  'rate-limit-resource': {
    kind: 'list',
    default: [],
    placeholder: 'NAME:COUNT[:DEVICE]',
    map: { sign: ':', depth: 1 },
    group: 'Scheduling',
    help: 'Number of a resource that executions hold, of each device or of one; may be repeated. One that is left out then has 0. Default: what the largest demand is.',
  },

  'log-verbose': {
    kind: 'string',
    default: '0',
    placeholder: 'LEVEL',
    group: 'Logging',
    help: 'Verbose level: 0 or false is off, 1 or true logs every inference and more.',
  },
  'log-info': { kind: 'bool', default: true, group: 'Logging', help: 'Log information.' },
  'log-warning': { kind: 'bool', default: true, group: 'Logging', help: 'Log warnings.' },
  'log-error': { kind: 'bool', default: true, group: 'Logging', help: 'Log errors.' },
  'log-format': {
    kind: 'choice',
    default: 'auto',
    choices: ['auto', 'default', 'ISO8601', 'json'],
    group: 'Logging',
    help: 'Line format; auto is "default" on a terminal and JSON elsewhere.',
  },
  'log-file': {
    kind: 'string',
    default: '',
    placeholder: 'FILE',
    path: '',
    group: 'Logging',
    help: 'Append the log to a file instead of the console.',
  },
  'log-model-level': {
    ours: true,
    kind: 'list',
    default: [],
    placeholder: 'MODEL=LEVEL',
    map: { sign: '=', depth: 1 },
    group: 'Logging',
    help: 'Least severe lines that are logged of a model, in place of the settings for all: error, warning, info or verbose; may be repeated.',
  },
  'access-log': {
    ours: true,
    kind: 'bool',
    default: false,
    group: 'Logging',
    help: 'Log a line per inference: model, version, id, protocol, status, batch size, times in the queue, in the model and in all.',
  },

  'trace-config': {
    kind: 'list',
    default: [],
    placeholder: '[MODE,]KEY=VALUE',
    path: 'triton,file=',
    map: { sign: '=', depth: 3 },
    group: 'Tracing',
    help: 'Traces of requests; may be repeated. Of both modes: level=OFF|TIMESTAMPS|TENSORS, rate=N (every N-th request; default 1000), count=N (-1 for no bound), mode=triton|opentelemetry. triton,file=PATH and triton,log-frequency=N write JSON files; opentelemetry,url=URL, opentelemetry,protocol=http|grpc, opentelemetry,resource=NAME=VALUE, opentelemetry,bsp_max_queue_size=N, opentelemetry,bsp_schedule_delay=MS and opentelemetry,bsp_max_export_batch_size=N send spans.',
  },
  'trace-max-responses': {
    ours: true,
    kind: 'int',
    default: 1000,
    min: 0,
    max: INT_MAX,
    unit: 'responses',
    group: 'Tracing',
    help: 'Responses to one request that its trace tells of one by one; of those beyond only the last is told.',
  },
  'trace-file': {
    kind: 'string',
    default: '',
    placeholder: 'PATH',
    path: '',
    group: 'Tracing',
    help: 'Deprecated spelling of --trace-config triton,file=PATH.',
  },
  'trace-level': {
    kind: 'list',
    default: [],
    placeholder: 'LEVEL',
    group: 'Tracing',
    help: 'Deprecated spelling of --trace-config level=LEVEL.',
  },
  'trace-rate': {
    kind: 'string',
    default: '',
    placeholder: 'N',
    group: 'Tracing',
    help: 'Deprecated spelling of --trace-config rate=N.',
  },
  'trace-count': {
    kind: 'string',
    default: '',
    placeholder: 'N',
    group: 'Tracing',
    help: 'Deprecated spelling of --trace-config count=N.',
  },
  'trace-log-frequency': {
    kind: 'string',
    default: '',
    placeholder: 'N',
    group: 'Tracing',
    help: 'Deprecated spelling of --trace-config triton,log-frequency=N.',
  },

  config: {
    ours: true,
    kind: 'string',
    default: '',
    placeholder: 'FILE',
    group: 'Process',
    help: 'YAML or JSON file of options, each under its name; the command line and the environment go before it. --config-schema prints its JSON Schema.',
  },
  id: {
    kind: 'string',
    default: 'nereid',
    placeholder: 'NAME',
    group: 'Process',
    help: 'Server name in the metadata.',
  },
  'exit-timeout-secs': {
    kind: 'int',
    default: 30,
    min: 0,
    // In milliseconds it is what a timer takes.
    max: 2_147_483,
    unit: 's',
    group: 'Process',
    help: 'Time that requests in flight have to finish at shutdown.',
  },

  'load-model': ignored('models are chosen at start only with --model-control-mode=explicit'),
  'repository-poll-secs': ignored('the repository is read once, at start'),
  'model-namespacing': ignored('a model name must be unique over all repositories'),
  'model-load-gpu-limit': ignored(NO_GPU),
  'enable-peer-access': ignored(NO_GPU),
  'min-supported-compute-capability': ignored(NO_GPU),
  'http-thread-count': ignored('HTTP is served by one event loop'),
  'grpc-infer-thread-count': ignored('gRPC is served by one event loop'),
  'grpc-infer-allocation-pool-size': ignored('requests are not taken from a pool'),
  'allow-gpu-metrics': ignored('there are no metrics of GPUs in this version'),
  'pinned-memory-pool-byte-size': ignored(NO_GPU),
  'cuda-memory-pool-byte-size': ignored(NO_GPU),
  'cuda-virtual-address-size': ignored(NO_GPU),
  'buffer-manager-thread-count': ignored('inputs are gathered on the thread of the model instance'),
  'host-policy': ignored('instances are not bound to cores by this version'),
  'cache-config': ignored(NO_CACHE),
  'cache-directory': ignored(NO_CACHE),
  'response-cache-byte-size': ignored(NO_CACHE),
  'repoagent-directory': ignored('there are no repository agents in this version'),
  'allow-sagemaker': ignored(OTHER_CLOUD),
  'sagemaker-port': ignored(OTHER_CLOUD),
  'sagemaker-safe-port-range': ignored(OTHER_CLOUD),
  'sagemaker-thread-count': ignored(OTHER_CLOUD),
  'allow-vertex-ai': ignored(OTHER_CLOUD),
  'vertex-ai-port': ignored(OTHER_CLOUD),
  'vertex-ai-thread-count': ignored(OTHER_CLOUD),
  'vertex-ai-default-model': ignored(OTHER_CLOUD),
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof FLAGS;

type ValueOf<F> = F extends { kind: 'bool' | 'flag' }
  ? boolean
  : F extends { kind: 'int' | 'float' }
    ? number
    : F extends { kind: 'list' }
      ? readonly string[]
      : F extends { kind: 'choice'; choices: readonly (infer C)[] }
        ? C
        : F extends { kind: 'string' }
          ? string
          : undefined;

/** Value of every option, defaults included. */
export type FlagValues = { readonly [N in FlagName]: ValueOf<(typeof FLAGS)[N]> };
