import type { Finding } from '../finding.ts';
import type { ModelConfig } from '../generated/types.ts';

/** What a rule may look at. */
interface RuleContext {
  readonly config: ModelConfig;
  /** Name for messages: the configuration's, else the directory's. */
  readonly model: string;
  readonly directoryName?: string | undefined;
  /** Ids of the usable GPUs; left out by a build without GPU support. */
  readonly gpus?: readonly number[] | undefined;
}

/** One rule: yields what breaks it. */
export type Check = (context: RuleContext) => Iterable<Finding>;

/** Items of a list that occur before, with their index. */
export function* repeats<T>(items: readonly T[]): Iterable<readonly [item: T, index: number]> {
  const seen = new Set<T>();
  for (const [index, item] of items.entries()) {
    if (seen.has(item)) yield [item, index];
    seen.add(item);
  }
}

/** `'a', 'b'`, or `none`. */
export function quoteList(names: Iterable<string | number>): string {
  return [...names].map((name) => `'${name}'`).join(', ') || 'none';
}
