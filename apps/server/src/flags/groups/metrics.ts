import { type Flag, INT_MAX, PORT_MAX } from '../flag.ts';

/** The metrics and where they are told. */
export const METRICS_FLAGS = {
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
} as const satisfies Record<string, Flag>;
