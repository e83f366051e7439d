/**
 * Which position of `forward` a configured name stands for. One convention holds for all inputs, another for all outputs:
 * inputs by argument name when every name is one; else by `<anything>__<index>` when every name is one; else by order of the configuration.
 * Outputs by index when every name has one, else by order.
 */
export type NamingConvention = 'argument' | 'index' | 'order';

export interface ResolvedNames {
  readonly convention: NamingConvention;
  /** Position of each name, in the order of the names. Not checked against anything. */
  readonly positions: readonly number[];
}

export function resolveInputNames(names: readonly string[], argumentNames: readonly string[]): ResolvedNames {
  const byArgument = names.map((name) => argumentNames.indexOf(name));
  if (byArgument.every((position) => position >= 0)) return { convention: 'argument', positions: byArgument };
  return resolveOutputNames(names);
}

export function resolveOutputNames(names: readonly string[]): ResolvedNames {
  const byIndex = names.map(indexInName).filter((position) => position !== undefined);
  if (byIndex.length === names.length) return { convention: 'index', positions: byIndex };
  return { convention: 'order', positions: names.map((_, i) => i) };
}

/**
 * What follows the FIRST `__` of a name, as a number: 1 for `INPUT__1`, 0 for `X__` (nothing counts as 0), undefined for `INPUT` and for
 * `my__input__1`, where `input__1` follows.
 */
export function indexInName(name: string): number | undefined {
  const at = name.indexOf('__');
  if (at < 0) return undefined;
  const suffix = name.slice(at + 2);
  return /^\d*$/.test(suffix) ? Number(suffix) : undefined;
}
