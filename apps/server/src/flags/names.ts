/** Names of options, and how they may be spelt. */
import { nearestName } from '@nereid/core';
import type { Flag } from './flag.ts';
import { FLAGS, type FlagName } from './table.ts';

const table: Readonly<Record<FlagName, Flag>> = FLAGS;

export const NAMES = Object.keys(FLAGS) as readonly FlagName[];

/** Every whole spelling, aliases included. */
export const SPELLINGS: ReadonlyMap<string, FlagName> = new Map(
  NAMES.flatMap((name) => {
    const { alias } = table[name];
    const spelt: readonly (readonly [string, FlagName])[] = [[name, name]];
    return alias === undefined ? spelt : [...spelt, [alias, name] as const];
  }),
);

/** Those of the original. */
export const ORIGINAL_SPELLINGS: ReadonlyMap<string, FlagName> = new Map(
  [...SPELLINGS].filter(([spelling, name]) => table[name].ours === undefined || spelling !== name),
);

export function flagOf(name: FlagName): Flag {
  return table[name];
}

/** `; did you mean '…'?`, or '' when nothing is near. */
export function suggestion(word: string, prefix = ''): string {
  const nearest = nearestName(word, SPELLINGS.keys());
  return nearest === undefined ? '' : `; did you mean '${prefix}${nearest}'?`;
}
