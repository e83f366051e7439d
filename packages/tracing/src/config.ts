/** The settings a server starts with, as a command line gives them: `[mode,]key=value`. */
import { TracingError } from './errors.ts';
import {
  DEFAULT_VALUES,
  isLevelWord,
  levelsOf,
  numberOf,
  type SettingValues,
  type TraceMode,
} from './setting-values.ts';

/** Where spans go and how. Names and defaults of the batching processor are those of OpenTelemetry. */
export interface OpenTelemetryOptions {
  /** How spans are sent. Default `http`: protobuf in a POST. */
  readonly protocol: 'http' | 'grpc';
  /** Default `http://localhost:4318/v1/traces`, or `http://localhost:4317` for gRPC. */
  readonly url: string;
  /** Attributes of the resource that the spans belong to. Default: `service.name`, `nereid`. */
  readonly resource: ReadonlyMap<string, string>;
  /** Spans that wait at most; more are dropped. Default 2048. */
  readonly maxQueueSize: number;
  /** Milliseconds until spans that wait are sent. Default 5000. */
  readonly scheduleDelayMs: number;
  /** Spans that are sent together at most. Default 512. */
  readonly maxExportBatchSize: number;
}

export interface TraceConfig {
  readonly mode: TraceMode;
  /** File of mode triton; '' for none. */
  readonly file: string;
  readonly values: SettingValues;
  readonly openTelemetry: OpenTelemetryOptions;
}

const KEYS = [
  'level',
  'rate',
  'count',
  'mode',
  'triton,file',
  'triton,log-frequency',
  'opentelemetry,url',
  'opentelemetry,protocol',
  'opentelemetry,resource',
  'opentelemetry,bsp_max_queue_size',
  'opentelemetry,bsp_schedule_delay',
  'opentelemetry,bsp_max_export_batch_size',
] as const;

type Key = (typeof KEYS)[number];

export interface TraceConfigText {
  /** `[mode,]key=value` each. */
  readonly settings: readonly string[];
  /** The same from older options; a key that `settings` has too is not taken from here. */
  readonly deprecated?: readonly string[];
  /** Where `OTEL_BSP_*` are looked for. Default: nowhere. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads start-up settings. `level` and `opentelemetry,resource` may be repeated; of others the last one counts.
 * @throws {TracingError} `bad-config` for an unknown key, a missing side of the `=`, and a value of the wrong form
 */
export function parseTraceConfig({ settings, deprecated = [], env = {} }: TraceConfigText): TraceConfig {
  const texts = new Map([...collect(deprecated), ...collect(settings)]);
  const last = (key: Key) => texts.get(key)?.at(-1);
  const number = (key: Key, fallback: number, min = 0) => {
    const text = last(key);
    return text === undefined ? fallback : configured(key, () => numberOf(text, { name: key, min }));
  };
  const fromEnv = (name: string, fallback: number) => {
    const text = env[`OTEL_BSP_${name}`];
    return text === undefined || text === ''
      ? fallback
      : configured(`OTEL_BSP_${name}`, () => numberOf(text, { name, min: 1 }));
  };
  const protocol = choice(
    last('opentelemetry,protocol') ?? 'http',
    ['http', 'grpc'] as const,
    'opentelemetry,protocol',
  );
  return {
    mode: choice(last('mode') ?? 'triton', ['triton', 'opentelemetry'] as const, 'mode'),
    file: last('triton,file') ?? '',
    values: {
      levels: levels(texts.get('level') ?? []),
      rate: number('rate', DEFAULT_VALUES.rate),
      count: number('count', DEFAULT_VALUES.count, -1),
      logFrequency: number('triton,log-frequency', DEFAULT_VALUES.logFrequency),
    },
    openTelemetry: {
      protocol,
      url: urlOf(last('opentelemetry,url') ?? DEFAULT_URLS[protocol]),
      resource: new Map([['service.name', 'nereid'], ...(texts.get('opentelemetry,resource') ?? []).map(attribute)]),
      maxQueueSize: number('opentelemetry,bsp_max_queue_size', fromEnv('MAX_QUEUE_SIZE', 2048), 1),
      scheduleDelayMs: number('opentelemetry,bsp_schedule_delay', fromEnv('SCHEDULE_DELAY', 5000), 1),
      maxExportBatchSize: number('opentelemetry,bsp_max_export_batch_size', fromEnv('MAX_EXPORT_BATCH_SIZE', 512), 1),
    },
  };
}

const DEFAULT_URLS = { http: 'http://localhost:4318/v1/traces', grpc: 'http://localhost:4317' } as const;

function collect(settings: readonly string[]): Map<Key, string[]> {
  const texts = new Map<Key, string[]>();
  for (const setting of settings) {
    const [, name = '', value = ''] = /^([^=]*)=([\s\S]*)$/.exec(setting) ?? [];
    const key = KEYS.find((known) => known === name);
    if (key === undefined || value === '')
      throw new TracingError(
        'bad-config',
        `'${setting}' is no setting of traces: expected KEY=VALUE, KEY being one of ${KEYS.join('; ')}`,
      );
    texts.set(key, [...(texts.get(key) ?? []), value]);
  }
  return texts;
}

function levels(words: readonly string[]): SettingValues['levels'] {
  const unknown = words.find((word) => !isLevelWord(word));
  if (unknown !== undefined)
    throw new TracingError('bad-config', `level takes one of OFF, TIMESTAMPS, TENSORS, got '${unknown}'`);
  return configured('level', () => levelsOf(words));
}

function choice<C extends string>(text: string, choices: readonly C[], key: string): C {
  const found = choices.find((known) => known === text);
  if (found !== undefined) return found;
  throw new TracingError('bad-config', `${key} takes one of ${choices.join(', ')}, got '${text}'`);
}

function urlOf(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text;
  throw new TracingError('bad-config', `opentelemetry,url takes an http or https address, got '${text}'`);
}

function attribute(text: string): [string, string] {
  const equals = text.indexOf('=');
  if (equals > 0 && equals < text.length - 1) return [text.slice(0, equals), text.slice(equals + 1)];
  throw new TracingError('bad-config', `opentelemetry,resource takes NAME=VALUE, got '${text}'`);
}

/** What is wrong with a value that was given at start is wrong with the configuration. */
function configured<T>(key: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof TracingError)) throw thrown;
    throw new TracingError('bad-config', `${key}: ${thrown.message}`, { cause: thrown });
  }
}
