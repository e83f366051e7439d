/** Where Nereid answers otherwise than the original on purpose, and what this version does not serve yet. Both lists are to shrink. */
import type { Exchange } from './recording.ts';

/** Exchanges about parts that are not served yet: matched by the beginning of their name. */
export const NOT_SERVED: Readonly<Record<string, string>> = {
  'sequence: ': 'the sequence batcher',
  'get /v2/models/running/config': 'the sequence batcher',
  'classification ': 'the classification extension',
  generate: 'the generate extension',
  'system shm ': 'shared memory',
  'cuda shm ': 'shared memory',
  'trace setting': 'tracing',
  logging: 'the logging endpoint',
};

export function notServed(exchange: Exchange): string | undefined {
  return Object.entries(NOT_SERVED).find(([beginning]) => exchange.name.startsWith(beginning))?.[1];
}

export interface Difference {
  readonly name: string;
  readonly reason: string;
  /** Status that Nereid answers instead. */
  readonly status?: number;
  /** Paths of the JSON answer that are not compared. */
  readonly paths?: readonly string[];
  /** Model of the recording that is not in the repository: its rows are left out. */
  readonly withoutModel?: string;
}

const MALFORMED = 'malformed by the client: 400 where the original says 500';

const NO_SEQUENCES = 'the sequence model of the recording is not in the repository';

/** Named exchanges that differ on purpose. */
export const DIFFERENCES: readonly Difference[] = [
  {
    name: 'get /v2',
    reason: 'server name, version and the extensions that are served',
    paths: ['$.name', '$.version', '$.extensions'],
  },
  { name: 'index', reason: NO_SEQUENCES, withoutModel: 'running' },
  { name: 'index ready', reason: NO_SEQUENCES, withoutModel: 'running' },
  { name: 'index bad body', reason: MALFORMED, status: 400 },
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
  ].map((name) => ({ name, reason: MALFORMED, status: 400 })),
];
