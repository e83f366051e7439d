/** Settings of all models, and of single models on top of them. What a model has no setting of its own for is the global one, else the one of the start. */
import type { TraceSettingChanges, TraceSettingValues } from '@nereid/core';
import { CounterSet } from './counter-set.ts';
import { TracingError } from './errors.ts';
import { hindrance, levelsOf, numberOf, type SettingValues, type TraceMode } from './setting-values.ts';
import type { TraceWriter } from './writer.ts';

export interface SettingsInit {
  readonly mode: TraceMode;
  readonly file: string;
  readonly start: SettingValues;
  readonly writer: TraceWriter;
}

type Overrides = Partial<SettingValues>;

interface ModelSetting {
  readonly own: Overrides;
  readonly counters: CounterSet;
}

export class TraceSettings {
  readonly #init: SettingsInit;
  #global: ModelSetting;
  readonly #models = new Map<string, ModelSetting>();
  #isOn = false;

  constructor(init: SettingsInit) {
    this.#init = init;
    this.#global = this.#setting({}, init.start);
    this.#note();
  }

  /** Whether any setting makes traces. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** The set that counts the requests of a model. */
  countersFor(modelName: string): CounterSet {
    return (this.#models.get(modelName) ?? this.#global).counters;
  }

  describe(modelName = ''): TraceSettingValues {
    const { mode, writer } = this.#init;
    const counters = this.countersFor(modelName);
    const { levels, rate } = counters.values;
    return {
      trace_level: levels.length === 0 ? ['OFF'] : levels,
      trace_rate: String(rate),
      trace_count: String(counters.remaining),
      ...writer.describe(counters.values),
      trace_mode: mode,
    };
  }

  /** @throws {TracingError} and has changed nothing */
  update(changes: TraceSettingChanges, modelName = ''): void {
    this.#refuseFixed(changes);
    if (modelName === '') this.#updateAll(changes);
    else this.#updateModel(changes, modelName);
    this.#note();
  }

  flush(): void {
    for (const { counters } of [this.#global, ...this.#models.values()]) counters.flush();
  }

  #updateAll(changes: TraceSettingChanges): void {
    const own = changed(this.#global.own, changes);
    const values = { ...this.#init.start, ...own };
    this.#assertPossible(values);
    this.#global.counters.retire();
    this.#global = this.#setting(own, values);
    for (const [name, model] of this.#models) {
      const under = { ...values, ...model.own };
      if (sameValues(under, model.counters.values)) continue;
      model.counters.retire();
      this.#models.set(name, this.#setting(model.own, under));
    }
  }

  #updateModel(changes: TraceSettingChanges, name: string): void {
    const before = this.#models.get(name);
    const own = changed(before?.own ?? {}, changes);
    const values = { ...this.#init.start, ...this.#global.own, ...own };
    this.#assertPossible(values);
    before?.counters.retire();
    if (Object.keys(own).length === 0) this.#models.delete(name);
    else this.#models.set(name, this.#setting(own, values));
  }

  #setting(own: Overrides, values: SettingValues): ModelSetting {
    return { own, counters: new CounterSet(this.#possible(values), this.#init.writer.open(values)) };
  }

  /** What is asked for at start and cannot be done makes no traces; an update like that is refused. */
  #possible(values: SettingValues): SettingValues {
    return this.#hindrance(values) === undefined ? values : { ...values, levels: [] };
  }

  #assertPossible(values: SettingValues): void {
    const why = this.#hindrance(values);
    if (why !== undefined) throw new TracingError('unsatisfiable', `these trace settings make no traces: ${why}`);
  }

  #hindrance(values: SettingValues): string | undefined {
    return values.levels.length === 0 ? undefined : hindrance(values, this.#init.mode, this.#init.file);
  }

  #refuseFixed(changes: TraceSettingChanges): void {
    if (changes.has('trace_file')) throw fixed('trace_file', 'no client names files that a server writes');
    const mode = changes.get('trace_mode');
    if (mode === undefined || (mode?.length === 1 && mode[0] === this.#init.mode)) return;
    throw fixed('trace_mode', 'the server was started with one');
  }

  #note(): void {
    const all = [this.#global, ...this.#models.values()];
    this.#isOn = all.some(({ counters }) => counters.values.levels.length > 0);
  }
}

/** Own values after a change; those that were cleared are gone. Unknown names are passed over, as the original does. */
function changed(own: Overrides, changes: TraceSettingChanges): Overrides {
  const values: { -readonly [K in keyof SettingValues]?: SettingValues[K] } = { ...own };
  const level = changes.get('trace_level');
  if (isCleared(level)) delete values.levels;
  else if (level !== undefined) values.levels = levelsOf(level);
  for (const { name, key, min } of NUMBERS) {
    const texts = changes.get(name);
    if (isCleared(texts)) delete values[key];
    else if (texts !== undefined) values[key] = numberOf(single(name, texts), { name, min });
  }
  return values;
}

const NUMBERS = [
  { name: 'trace_rate', key: 'rate', min: 0 },
  { name: 'trace_count', key: 'count', min: -1 },
  { name: 'log_frequency', key: 'logFrequency', min: 0 },
] as const;

function isCleared(texts: readonly string[] | null | undefined): texts is null | readonly [] {
  return texts === null || texts?.length === 0;
}

function single(name: string, texts: readonly string[]): string {
  const [text, ...more] = texts;
  if (text !== undefined && more.length === 0) return text;
  throw new TracingError('bad-value', `${name} takes one value, got ${texts.length}`);
}

function sameValues(a: SettingValues, b: SettingValues): boolean {
  const { levels, rate, count, logFrequency } = a;
  const isSame = rate === b.rate && count === b.count && logFrequency === b.logFrequency;
  return isSame && levels.join() === b.levels.join();
}

function fixed(name: string, why: string): TracingError {
  return new TracingError(
    'fixed',
    `${name} cannot be changed while the server runs: ${why}; give it at start, with --trace-config`,
  );
}
