import type { RuleCase } from './rule-case.ts';
import { base, CHAIN, ensemble, step, X, Y } from './snippets.ts';

export const ENSEMBLE_CASES: readonly RuleCase[] = [
  {
    rule: 'ensemble-platform',
    says: 'ensemble scheduling cannot be set for model',
    at: 'ensemble_scheduling',
    broken: base(`ensemble_scheduling { step [ ${CHAIN.join(', ')} ] }`),
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'ensemble-scheduling-missing',
    says: 'ensemble scheduling must be set for ensemble',
    at: 'platform',
    broken: `platform: "ensemble" ${X} ${Y}`,
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'ensemble-instance-group',
    says: 'instance group should not be specified for ensemble',
    at: 'instance_group',
    broken: ensemble(CHAIN, 'instance_group [ { kind: KIND_CPU count: 1 } ]'),
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'ensemble-optimization',
    says: 'optimization should not be specified for ensemble',
    at: 'optimization',
    broken: ensemble(CHAIN, 'optimization { }'),
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'ensemble-warmup',
    says: 'model_warmup can not be specified for ensemble',
    at: 'model_warmup',
    broken: ensemble(CHAIN, 'model_warmup [ { batch_size: 1 } ]'),
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'step-missing',
    says: "must specify 'step' for ensemble",
    at: 'ensemble_scheduling',
    broken: ensemble([]),
    fixed: ensemble(CHAIN),
  },
  ...(['model_name', 'input_map', 'output_map'] as const).map((field, i): RuleCase => {
    const parts = ['b', 'in=t', 'out=y'].map((part, j) => (i === j ? '' : part));
    return {
      rule: 'step-field',
      says: `must specify '${field}' in step 1 of ensemble`,
      at: 'ensemble_scheduling.step[1]',
      broken: ensemble([step('a', 'in=x', 'out=t'), step(parts[0] ?? '', parts[1] ?? '', parts[2] ?? '')]),
      fixed: ensemble(CHAIN),
    };
  }),
  {
    rule: 'tensor-written-twice',
    says: 'can appear in an output map only once',
    at: 'ensemble_scheduling.step[1].output_map["more"]',
    broken: ensemble([step('a', 'in=x', 'out=t'), step('b', 'in=t', 'out=y more=t')]),
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'tensor-written-twice',
    says: 'is an input of the ensemble',
    at: 'ensemble_scheduling.step[0].output_map["more"]',
    broken: ensemble([step('a', 'in=x', 'out=y more=x')]),
    fixed: ensemble([step('a', 'in=x', 'out=y')]),
  },
  {
    rule: 'ensemble-input-unused',
    says: "ensemble input 'x' for ensemble 'm' is not used",
    at: 'input[0]',
    broken: ensemble([step('a', 'in=u', 'out=y')]),
    fixed: ensemble([step('a', 'in=x', 'out=y')]),
  },
  {
    rule: 'ensemble-output-not-written',
    says: "ensemble output 'y' for ensemble 'm' is not used",
    at: 'output[0]',
    broken: ensemble([step('a', 'in=x', 'out=z')]),
    fixed: ensemble([step('a', 'in=x', 'out=y')]),
  },
  {
    rule: 'ensemble-output-not-written',
    says: "output 'y' for ensemble 'm' is not written: at least one of its depending tensors, 'u', is not connected",
    at: 'output[0]',
    broken: ensemble([step('a', 'in=x more=u', 'out=t'), step('b', 'in=t', 'out=y')]),
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'ensemble-output-not-written',
    says: "output 'y' for ensemble 'm' is not written: its steps wait for each other",
    at: 'output[0]',
    broken: ensemble([step('a', 'in=x back=v', 'out=t'), step('b', 'in=t', 'out=y back=v')]),
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'ensemble-tensor-unused',
    says: "ensemble tensor 'rest' is unused in ensemble",
    at: 'ensemble_scheduling',
    broken: ensemble([step('a', 'in=x', 'out=t more=rest'), step('b', 'in=t', 'out=y')]),
    fixed: ensemble(CHAIN),
  },
];
