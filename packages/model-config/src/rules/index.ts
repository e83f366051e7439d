import { BATCH_IO_RULES } from './batch-io.ts';
import { DYNAMIC_BATCHING_RULES } from './dynamic-batching.ts';
import { ENSEMBLE_RULES } from './ensemble.ts';
import { FILE_NAME_RULES } from './file-names.ts';
import { INSTANCE_GROUP_RULES } from './instance-groups.ts';
import { METRICS_RULES } from './metrics.ts';
import { RESPONSE_CACHE_RULES } from './response-cache.ts';
import type { Check } from './rule.ts';
import { SEQUENCE_BATCHING_RULES } from './sequence-batching.ts';
import { SEQUENCE_STATE_RULES } from './sequence-state.ts';
import { TENSOR_RULES } from './tensors.ts';
import { TOP_LEVEL_RULES } from './top-level.ts';
import { WARMUP_RULES } from './warmup.ts';

/** What holds of a configuration before a backend has completed its tensors. */
const STRUCTURE_RULES = {
  ...TOP_LEVEL_RULES,
  ...DYNAMIC_BATCHING_RULES,
  ...SEQUENCE_BATCHING_RULES,
  ...SEQUENCE_STATE_RULES,
  ...RESPONSE_CACHE_RULES,
  ...ENSEMBLE_RULES,
  ...METRICS_RULES,
  ...FILE_NAME_RULES,
  ...INSTANCE_GROUP_RULES,
  ...WARMUP_RULES,
};

/** What holds once it has. */
const TENSOR_PHASE_RULES = { ...TENSOR_RULES, ...BATCH_IO_RULES };

const ALL_RULES = { ...STRUCTURE_RULES, ...TENSOR_PHASE_RULES };

/** Name of a rule, which is also the reason of its diagnostics. */
export type RuleName = keyof typeof ALL_RULES;

/** Every rule by name, in the order in which they are checked. */
export const RULES: ReadonlyMap<RuleName, Check> = table(ALL_RULES);

/** Names of all rules, in the order in which they are checked. */
export const RULE_NAMES: readonly RuleName[] = [...RULES.keys()];

/** The rules that need no tensors. */
export const INCOMPLETE_RULES: ReadonlyMap<RuleName, Check> = table(STRUCTURE_RULES);

function table<Name extends RuleName>(rules: Readonly<Record<Name, Check>>): ReadonlyMap<Name, Check> {
  return new Map(Object.entries(rules) as [Name, Check][]);
}
