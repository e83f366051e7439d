/** The settings that can change while a server runs, and the texts that stand for them. */
import { TracingError } from './errors.ts';

export type TraceLevel = 'TIMESTAMPS' | 'TENSORS';
export type TraceMode = 'triton' | 'opentelemetry';

export interface SettingValues {
  /** What is traced; nothing when empty. */
  readonly levels: readonly TraceLevel[];
  /** Every so many requests one is traced; 0 traces those that bring a trace context, and no others. */
  readonly rate: number;
  /** Traces to be made; −1 for no bound. */
  readonly count: number;
  /** Traces per file; 0 writes one file. Only in mode triton. */
  readonly logFrequency: number;
}

export const DEFAULT_VALUES: SettingValues = { levels: [], rate: 1000, count: -1, logFrequency: 0 };

const LARGEST = 2 ** 32 - 1;

/** MIN and MAX are what old clients call TIMESTAMPS. */
const LEVELS: ReadonlyMap<string, TraceLevel | undefined> = new Map([
  ['OFF', undefined],
  ['TIMESTAMPS', 'TIMESTAMPS'],
  ['MIN', 'TIMESTAMPS'],
  ['MAX', 'TIMESTAMPS'],
  ['TENSORS', 'TENSORS'],
]);

export const isLevelWord = (word: string): boolean => LEVELS.has(word);

/**
 * Reads words of a level; those that are none are passed over.
 * @throws {TracingError} `bad-value` for OFF beside others
 */
export function levelsOf(words: readonly string[]): readonly TraceLevel[] {
  const known = words.filter(isLevelWord);
  const levels = new Set(known.flatMap((word) => LEVELS.get(word) ?? []));
  if (known.includes('OFF') && levels.size > 0)
    throw new TracingError('bad-value', `trace level OFF stands alone, got ${words.join(', ')}`);
  return [...levels];
}

/** @throws {TracingError} `bad-value` for anything but a whole number in range */
export function numberOf(text: string, { name, min }: { readonly name: string; readonly min: number }): number {
  const value = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= LARGEST) return value;
  throw new TracingError('bad-value', `${name} takes a whole number from ${min} on, up to ${LARGEST}, got '${text}'`);
}

/** Why no traces can be made with these values, though a level asks for them; undefined when they can. */
export function hindrance({ rate }: SettingValues, mode: TraceMode, file: string): string | undefined {
  if (mode === 'opentelemetry') return undefined;
  if (rate === 0)
    return 'trace_rate is 0, which only mode opentelemetry can follow: there it traces requests with a trace context';
  if (file === '')
    return 'there is no trace file: name one when the server starts, with --trace-config triton,file=PATH';
  return undefined;
}
