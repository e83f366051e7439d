/** Options by where they were set, and what remains when one place goes before another. */
import { flagOf, NAMES } from './names.ts';
import type { FlagName, FlagValues } from './table.ts';

export interface Setting {
  /** Of the option's type; a list is whole. */
  readonly value: unknown;
  /** Where it was set: a variable, or file, line and column; undefined for the command line. */
  readonly source: string | undefined;
}

/** Options that were set in one place. */
export type Layer = ReadonlyMap<FlagName, Setting>;

/** Variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ParsedFlags {
  readonly values: FlagValues;
  /** Options that were given. */
  readonly given: ReadonlySet<FlagName>;
  /** Where options were set that are not from the command line. */
  readonly sources: ReadonlyMap<FlagName, string>;
  /** Words that belong to no option: files to serve. */
  readonly files: readonly string[];
  /** One sentence for each thing that was found beside the options and looks like a mistake. */
  readonly warnings: readonly string[];
  /** Where variables of other programs are read from. */
  readonly env: Environment;
}

/** Values of all options: of each the one of the first layer that sets it, else its default. A list of one layer takes the place of that of another. */
export function mergeLayers(layers: readonly Layer[]): Pick<ParsedFlags, 'values' | 'given' | 'sources'> {
  const values: Partial<Record<FlagName, unknown>> = {};
  const given = new Set<FlagName>();
  const sources = new Map<FlagName, string>();
  for (const name of NAMES) {
    const setting = layers.find((layer) => layer.has(name))?.get(name);
    values[name] = setting === undefined ? flagOf(name).default : setting.value;
    if (setting === undefined) continue;
    given.add(name);
    if (setting.source !== undefined) sources.set(name, setting.source);
  }
  return { values: values as FlagValues, given, sources };
}

/** Where each option was set that is not from the command line; the values are told nowhere, as some are keys. */
export function listSources(sources: ParsedFlags['sources']): string {
  return [...sources].map(([name, source]) => `${name} (${source})`).join(', ');
}

/** A message, with where the options it names were set. */
export function tellSources(message: string, sources: ParsedFlags['sources']): string {
  const named = [...sources].filter(([name]) => new RegExp(`--${name}(?![\\w-])`).test(message));
  return [message, ...named.map(([name, source]) => `--${name} is set by ${source}`)].join('; ');
}
