/** Where Nereid answers otherwise than the original on purpose. The lists are to shrink. */
export interface Difference {
  readonly name: string;
  readonly reason: string;
  /** Status that Nereid answers instead. */
  readonly status?: number;
  /** Paths of the JSON answer that are not compared. */
  readonly paths?: readonly string[];
}

const RECORDED_WITHOUT_TRACES = 'the recorded server was built without tracing';

const MALFORMED = 'malformed by the client: 400 where the original says 500';

/** Named exchanges that differ on purpose. */
export const DIFFERENCES: readonly Difference[] = [
  {
    name: 'get /v2',
    reason: 'server name, version and the extensions that are served',
    paths: ['$.name', '$.version', '$.extensions'],
  },
  {
    name: 'get /v2/models/running/config',
    reason:
      'the 64-bit integers of a configuration are numbers throughout, also those that the original leaves as strings',
    paths: ['$.sequence_batching.state[0].initial_state[0].dims'],
  },
  { name: 'index bad body', reason: MALFORMED, status: 400 },
  { name: 'logging bad', reason: MALFORMED, status: 400 },
  { name: 'trace setting', reason: RECORDED_WITHOUT_TRACES, status: 200, paths: ['$'] },
  { name: 'trace setting of model', reason: RECORDED_WITHOUT_TRACES, status: 200, paths: ['$'] },
  { name: 'trace setting of unknown', reason: RECORDED_WITHOUT_TRACES, status: 400 },
  ...['bool', 'uint8', 'int8', 'int16', 'int32', 'int64', 'fp32', 'fp64'].flatMap((type) => [
    { name: `${type} json wrong count`, reason: MALFORMED, status: 400 },
    { name: `${type} json too many`, reason: MALFORMED, status: 400 },
  ]),
  ...[
    'wrong json type for int',
    'string for float',
    'negative for unsigned',
    'number for bool',
    'negative dim',
    'bad: not json',
    'bad: truncated json',
    'bad: array',
    'bad: no inputs',
    'bad: inputs null',
    'bad: input without name',
    'bad: input without shape',
    'bad: shape of strings',
    'bad: name is number',
    'bad: id is number',
    'framing: header length too small',
    'classification -1',
    'generate nested',
    'generate bad json',
    'generate_stream bad',
  ].map((name) => ({ name, reason: MALFORMED, status: 400 })),
];

/** A recorded gRPC call that is answered otherwise on purpose. */
export interface GrpcDifference {
  readonly name: string;
  readonly reason: string;
  /** Code that Nereid answers instead. */
  readonly code?: string;
  /** Paths of the answer that are not compared. */
  readonly paths?: readonly string[];
}

export const GRPC_DIFFERENCES: readonly GrpcDifference[] = [
  { name: 'trace setting', reason: RECORDED_WITHOUT_TRACES, code: 'OK' },
  {
    name: 'server metadata',
    reason: 'server name, version and the extensions that are served',
    paths: ['$.response.name', '$.response.version', '$.response.extensions'],
  },
  {
    name: 'statistics',
    reason: 'the recorded server had answered other requests before',
    paths: [
      '$.response.model_stats[0].inference',
      '$.response.model_stats[0].execution',
      '$.response.model_stats[0].batch',
    ],
  },
];
