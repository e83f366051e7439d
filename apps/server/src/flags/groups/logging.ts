import type { Flag } from '../flag.ts';

/** What is logged, how and where. */
export const LOGGING_FLAGS = {
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
} as const satisfies Record<string, Flag>;
