import { InferenceServerError } from './errors.ts';

const FORMATS = ['default', 'ISO8601', 'json'] as const;

export type LogLineFormat = (typeof FORMATS)[number];

/** What is logged, and how. */
export interface LogSettings {
  /** Where lines are appended; '' is the console. Given at start only: nobody on the network names a file to write. */
  readonly file: string;
  readonly info: boolean;
  readonly warning: boolean;
  readonly error: boolean;
  /** 0 is off. */
  readonly verboseLevel: number;
  readonly format: LogLineFormat;
}

export type LogChanges = Partial<Omit<LogSettings, 'file'>>;

/** What a log offers to those who may change its settings while it runs. */
export interface LogControl {
  readonly settings: LogSettings;
  /** From the next line on. */
  update(changes: LogChanges): void;
}

/** Settings by the names they have in both protocols. */
export function logSettingsDocument(settings: LogSettings): Readonly<Record<string, string | boolean | number>> {
  return {
    log_file: settings.file,
    log_info: settings.info,
    log_warning: settings.warning,
    log_error: settings.error,
    log_verbose_level: settings.verboseLevel,
    log_format: settings.format,
  };
}

const MAX_VERBOSE_LEVEL = 2 ** 32 - 1;

/**
 * Reads changes by the names they have in both protocols. `null` and `undefined` leave a setting alone, unknown names are ignored.
 * @throws {InferenceServerError} INVALID_ARG for a value of the wrong type; UNSUPPORTED for `log_file`
 */
export function readLogChanges(values: Readonly<Record<string, unknown>>): LogChanges {
  const given = new Map(Object.entries(values).filter(([, value]) => value !== null && value !== undefined));
  if (given.has('log_file')) {
    throw new InferenceServerError(
      'UNSUPPORTED',
      "log file location cannot be changed while the server runs; it is given at start with --log-file: leave 'log_file' out",
    );
  }
  const changes: { -readonly [K in keyof LogChanges]: LogChanges[K] } = {};
  for (const level of ['info', 'warning', 'error'] as const) {
    const name = `log_${level}`;
    if (given.has(name)) changes[level] = readBoolean(name, given.get(name));
  }
  if (given.has('log_verbose_level')) changes.verboseLevel = readLevel(given.get('log_verbose_level'));
  if (given.has('log_format')) changes.format = readFormat(given.get('log_format'));
  return changes;
}

function readBoolean(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw wrong(name, 'true or false', value);
}

function readLevel(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_VERBOSE_LEVEL) return value;
  throw wrong('log_verbose_level', 'a whole number from 0 on', value);
}

function readFormat(value: unknown): LogLineFormat {
  const found = FORMATS.find((format) => format === value);
  if (found !== undefined) return found;
  throw wrong('log_format', FORMATS.map((format) => `'${format}'`).join(', '), value);
}

function wrong(name: string, expected: string, value: unknown): InferenceServerError {
  return new InferenceServerError(
    'INVALID_ARG',
    `Unable to parse '${name}': expected ${expected}, found ${JSON.stringify(value)}`,
  );
}
