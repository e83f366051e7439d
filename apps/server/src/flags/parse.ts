/**
 * Reads options as Triton does: long ones only, `--name=value` or `--name value`, any unambiguous beginning of a name, booleans in any of six spellings, the last
 * of a repeated option wins unless it is a list.
 */
import { UsageError } from '../errors.ts';
import { FLAGS, type Flag, type FlagName, type FlagValues } from './table.ts';

export interface ParsedFlags {
  readonly values: FlagValues;
  /** Options that were given. */
  readonly given: ReadonlySet<FlagName>;
  /** Words that belong to no option: files to serve. */
  readonly files: readonly string[];
}

const TRUE = new Set(['true', 'on', '1']);
const FALSE = new Set(['false', 'off', '0']);

const table: Readonly<Record<string, Flag>> = FLAGS;
const names = Object.keys(FLAGS) as FlagName[];
const spellings = new Map<string, FlagName>(
  names.flatMap((name) => {
    const { alias } = table[name] as Flag;
    return alias === undefined
      ? [[name, name]]
      : [
          [name, name],
          [alias, name],
        ];
  }),
);

/** @throws {UsageError} for an unknown or ambiguous option, and a missing or bad value */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const values: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, table[name]?.default]));
  const given = new Set<FlagName>();
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
    const flag = table[name] as Flag;
    let text = equals === -1 ? undefined : word.slice(equals + 1);
    if (text === undefined && takesNextWord(flag, argv[i + 1])) text = argv[++i];
    const value = read(name, flag, text);
    values[name] = flag.kind === 'list' ? [...(values[name] as string[]), value] : value;
    given.add(name);
  }
  return { values: values as FlagValues, given, files };
}

function resolve(word: string): FlagName {
  const exact = spellings.get(word);
  if (exact !== undefined) return exact;
  const matches = [...spellings].filter(([spelling]) => word !== '' && spelling.startsWith(word));
  const targets = new Set(matches.map(([, name]) => name));
  const [only] = targets;
  if (targets.size === 1 && only !== undefined) return only;
  if (targets.size > 1) {
    throw new UsageError(
      `option '--${word}' is ambiguous: it may be ${matches.map(([spelling]) => `--${spelling}`).join(', ')}`,
    );
  }
  throw new UsageError(`unknown option '--${word}'; see nereid serve --help`);
}

function takesNextWord(flag: Flag, next: string | undefined): boolean {
  if (next === undefined) return false;
  if (flag.kind === 'flag') return false;
  // An option whose value nobody reads may have none: the next option is not its value.
  if (flag.kind === 'any') return !next.startsWith('--');
  return true;
}

function read(name: string, flag: Flag, text: string | undefined): unknown {
  if (flag.kind === 'any') return undefined;
  if (flag.kind === 'flag' && text === undefined) return true;
  if (text === undefined) throw new UsageError(`option '--${name}' needs a value`);
  switch (flag.kind) {
    case 'bool':
    case 'flag':
      return readBool(name, text);
    case 'int':
      return readInt(name, text, flag);
    case 'choice':
      return readChoice(name, text, flag.choices);
    case 'string':
    case 'list':
      if (text === '') throw new UsageError(`option '--${name}' needs a value that is not empty`);
      return text;
    default:
      return flag satisfies never;
  }
}

/** @throws {UsageError} for what is none of six spellings */
export function readBool(name: string, text: string): boolean {
  const word = text.toLowerCase();
  if (TRUE.has(word)) return true;
  if (FALSE.has(word)) return false;
  throw new UsageError(`option '--${name}' takes true or false (or on, off, 1, 0), got '${text}'`);
}

function readInt(name: string, text: string, range: { readonly min: number; readonly max: number }): number {
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.min && value <= range.max) return value;
  throw new UsageError(`option '--${name}' takes a whole number from ${range.min} to ${range.max}, got '${text}'`);
}

function readChoice(name: string, text: string, choices: readonly string[]): string {
  const found = choices.find((choice) => choice.toLowerCase() === text.toLowerCase());
  if (found !== undefined) return found;
  throw new UsageError(`option '--${name}' takes one of ${choices.join(', ')}, got '${text}'`);
}
