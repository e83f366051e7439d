import { type Flag, INT_MAX } from '../flag.ts';

/** Traces of requests. */
export const TRACING_FLAGS = {
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
} as const satisfies Record<string, Flag>;
