import type { RuleName } from '../../src/index.ts';

/** One refusal: a configuration that breaks a rule, and one as near as possible that breaks none. */
export interface RuleCase {
  readonly rule: RuleName;
  /** Part of the message that clients and tests of the original match on. */
  readonly says: string;
  /** Path of the diagnostic. */
  readonly at: string;
  readonly broken: string;
  readonly fixed: string;
  /** Usable GPUs; none and no support for them unless given. */
  readonly gpus?: readonly number[];
  readonly directoryName?: string;
  readonly backends?: readonly string[];
}
