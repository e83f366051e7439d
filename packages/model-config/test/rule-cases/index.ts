import { BATCHING_CASES } from './batching.ts';
import { ENSEMBLE_CASES } from './ensemble.ts';
import { INSTANCES_CASES } from './instances.ts';
import type { RuleCase } from './rule-case.ts';
import { SEQUENCES_CASES } from './sequences.ts';
import { TENSORS_CASES } from './tensors.ts';
import { TOP_LEVEL_CASES } from './top-level.ts';

export type { RuleCase } from './rule-case.ts';

export const RULE_CASES: readonly RuleCase[] = [
  ...TOP_LEVEL_CASES,
  ...BATCHING_CASES,
  ...SEQUENCES_CASES,
  ...ENSEMBLE_CASES,
  ...INSTANCES_CASES,
  ...TENSORS_CASES,
];
