import { variableOf } from './environment.ts';
import type { Flag, FlagGroup } from './flag.ts';
import { FLAGS } from './table.ts';

const GROUPS: readonly FlagGroup[] = [
  'Models',
  'HTTP',
  'gRPC',
  'Metrics',
  'Scheduling',
  'Logging',
  'Tracing',
  'Process',
];

export interface HelpOptions {
  /** Whether options without effect are told too. Default false. */
  readonly all?: boolean;
  /** Tells only options whose name, alias, variable, group or text has these words, those without effect included; '' tells as without it. */
  readonly term?: string;
}

/** Help of options, by group; '' when `term` finds none. */
export function flagsHelp({ all = false, term = '' }: HelpOptions = {}): string {
  const groups: readonly FlagGroup[] = all || term !== '' ? [...GROUPS, 'Accepted without effect'] : GROUPS;
  return groups
    .map((group) => groupHelp(group, term))
    .filter((text) => text !== '')
    .join('\n\n');
}

function groupHelp(group: FlagGroup, term: string): string {
  const rows = Object.entries<Flag>(FLAGS).filter(([name, flag]) => flag.group === group && matches(name, flag, term));
  return rows.length === 0 ? '' : [`${group}:`, ...rows.map(([name, flag]) => flagHelp(name, flag))].join('\n');
}

/** Every word of the term must occur. */
function matches(name: string, { alias = '', group, help }: Flag, term: string): boolean {
  const text = `--${name} --${alias} ${variableOf(name)} ${group} ${help}`.toLowerCase();
  return term
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function flagHelp(name: string, flag: Flag): string {
  return `  ${spelling(name, flag)}\n      ${flag.help}${defaultOf(flag)}`;
}

/** `--http-port=N`, with its alias if it has one. */
export function spelling(name: string, flag: Flag): string {
  const alias = flag.alias ? `, --${flag.alias}` : '';
  const value = flag.kind === 'flag' || flag.kind === 'any' ? '' : `=${placeholder(flag)}`;
  return `--${name}${alias}${value}`;
}

function placeholder(flag: Flag): string {
  if (flag.kind === 'string' || flag.kind === 'list') return flag.placeholder;
  if (flag.kind === 'choice') return flag.choices.join('|');
  return flag.kind === 'bool' ? 'true|false' : 'N';
}

function defaultOf(flag: Flag): string {
  const value = defaultText(flag);
  return value === '' ? '' : ` Default ${value}.`;
}

/** Default with its unit; '' when there is none to tell. */
export function defaultText(flag: Flag): string {
  if (flag.kind === 'flag' || flag.kind === 'any' || flag.kind === 'list' || flag.default === '') return '';
  return `${flag.default}${(flag.kind === 'int' || flag.kind === 'float') && flag.unit ? ` ${flag.unit}` : ''}`;
}
