/**
 * Reads options as Triton does: long ones only, `--name=value` or `--name value`, any unambiguous beginning of a name, booleans in any of six spellings, the last
 * of a repeated option wins unless it is a list.
 */
import { UsageError } from '../errors.ts';
import type { Flag } from './flag.ts';
import { type Layer, mergeLayers, type ParsedFlags, type Setting } from './layer.ts';
import { flagOf, ORIGINAL_SPELLINGS, SPELLINGS, suggestion } from './names.ts';
import type { FlagName } from './table.ts';
import { readValue } from './value.ts';

/**
 * The options of a command line, and nothing else.
 * @throws {UsageError} for an unknown or ambiguous option, and a missing or bad value
 */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const { layer, files } = readCommandLine(argv);
  return { ...mergeLayers([layer]), files, warnings: [], env: process.env };
}

/** @throws {UsageError} as `parseFlags` does */
export function readCommandLine(argv: readonly string[]): { readonly layer: Layer; readonly files: readonly string[] } {
  const layer = new Map<FlagName, Setting>();
  const files: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] as string;
    if (!word.startsWith('-') && word !== '') {
      files.push(word);
      continue;
    }
    if (!word.startsWith('--')) throw new UsageError(`unexpected argument '${word}': options begin with --`);
    const equals = word.indexOf('=');
    const name = resolve(equals === -1 ? word.slice(2) : word.slice(2, equals));
    const flag = flagOf(name);
    let text = equals === -1 ? undefined : word.slice(equals + 1);
    if (text === undefined && takesNextWord(flag, argv[i + 1])) text = argv[++i];
    const value = readValue(`option '--${name}'`, flag, text);
    const earlier = (layer.get(name)?.value ?? []) as readonly unknown[];
    layer.set(name, { value: flag.kind === 'list' ? [...earlier, value] : value, source: undefined });
  }
  return { layer, files };
}

function resolve(word: string): FlagName {
  const exact = SPELLINGS.get(word);
  if (exact !== undefined) return exact;
  const matches = beginningWith(word, SPELLINGS);
  // A start line of the original means one of the original's options.
  const only = onlyName(beginningWith(word, ORIGINAL_SPELLINGS)) ?? onlyName(matches);
  if (only !== undefined) return only;
  if (matches.length > 0) {
    throw new UsageError(
      `option '--${word}' is ambiguous: it may be ${matches.map(([spelling]) => `--${spelling}`).join(', ')}`,
    );
  }
  throw new UsageError(`unknown option '--${word}'${suggestion(word, '--') || '; see nereid serve --help'}`);
}

type Spelt = readonly (readonly [spelling: string, name: FlagName])[];

function beginningWith(word: string, spellings: ReadonlyMap<string, FlagName>): Spelt {
  return [...spellings].filter(([spelling]) => word !== '' && spelling.startsWith(word));
}

/** Undefined where there is none, or more than one. */
function onlyName(matches: Spelt): FlagName | undefined {
  const [only, ...others] = new Set(matches.map(([, name]) => name));
  return others.length === 0 ? only : undefined;
}

function takesNextWord(flag: Flag, next: string | undefined): boolean {
  if (next === undefined) return false;
  if (flag.kind === 'flag') return false;
  // An option whose value nobody reads may have none: the next option is not its value.
  if (flag.kind === 'any') return !next.startsWith('--');
  return true;
}
