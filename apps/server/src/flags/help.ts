import { FLAGS, type Flag, type FlagGroup } from './table.ts';

const GROUPS: readonly FlagGroup[] = ['Models', 'HTTP', 'gRPC', 'Metrics', 'Scheduling', 'Logging', 'Process'];

/** Help of every option by group. Options without effect are left out unless `all`. */
export function flagsHelp({ all = false }: { readonly all?: boolean } = {}): string {
  const groups: readonly FlagGroup[] = all ? [...GROUPS, 'Accepted without effect'] : GROUPS;
  return groups.map(groupHelp).join('\n\n');
}

function groupHelp(group: FlagGroup): string {
  const rows = Object.entries<Flag>(FLAGS).filter(([, flag]) => flag.group === group);
  return [`${group}:`, ...rows.map(([name, flag]) => flagHelp(name, flag))].join('\n');
}

function flagHelp(name: string, flag: Flag): string {
  const alias = flag.alias ? `, --${flag.alias}` : '';
  const value = flag.kind === 'flag' || flag.kind === 'any' ? '' : `=${placeholder(flag)}`;
  return `  --${name}${alias}${value}\n      ${flag.help}${defaultOf(flag)}`;
}

function placeholder(flag: Flag): string {
  if (flag.kind === 'string' || flag.kind === 'list') return flag.placeholder;
  if (flag.kind === 'choice') return flag.choices.join('|');
  return flag.kind === 'bool' ? 'true|false' : 'N';
}

function defaultOf(flag: Flag): string {
  if (flag.kind === 'flag' || flag.kind === 'any' || flag.kind === 'list' || flag.default === '') return '';
  return ` Default ${flag.default}${flag.kind === 'int' && flag.unit ? ` ${flag.unit}` : ''}.`;
}
