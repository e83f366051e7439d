import { type Flag, INT_MAX } from '../flag.ts';

/** The server as a whole. */
export const PROCESS_FLAGS = {
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
  'job-threads': {
    ours: true,
    kind: 'int',
    default: 2,
    min: 1,
    max: 128,
    unit: 'threads',
    group: 'Process',
    help: 'Threads beside the event loop that read and write long JSON and long typed contents, at most.',
  },
} as const satisfies Record<string, Flag>;
