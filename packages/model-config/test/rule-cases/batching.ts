import type { RuleCase } from './rule-case.ts';
import { dynamic, UNBATCHED } from './snippets.ts';

export const BATCHING_CASES: readonly RuleCase[] = [
  {
    rule: 'preferred-batch-size',
    says: 'dynamic batching preferred size must be positive',
    at: 'dynamic_batching.preferred_batch_size[1]',
    broken: dynamic('preferred_batch_size: [ 2, 0 ]'),
    fixed: dynamic('preferred_batch_size: [ 2, 1 ]'),
  },
  {
    rule: 'preferred-batch-size',
    says: 'preferred size must be <= max batch size',
    at: 'dynamic_batching.preferred_batch_size[0]',
    broken: dynamic('preferred_batch_size: 5'),
    fixed: dynamic('preferred_batch_size: 4'),
  },
  {
    rule: 'preferred-batch-size',
    says: 'preferred size must be <= max batch size',
    at: 'dynamic_batching.preferred_batch_size[0]',
    broken: `${UNBATCHED} dynamic_batching { preferred_batch_size: 1 }`,
    fixed: `${UNBATCHED} dynamic_batching { }`,
  },
  {
    rule: 'default-priority-level',
    says: 'default priority level must be in range [1, 3]',
    at: 'dynamic_batching.default_priority_level',
    broken: dynamic('priority_levels: 3'),
    fixed: dynamic('priority_levels: 3 default_priority_level: 3'),
  },
  {
    rule: 'default-priority-level',
    says: 'default priority level must be in range [1, 3]',
    at: 'dynamic_batching.default_priority_level',
    broken: dynamic('priority_levels: 3 default_priority_level: 4'),
    fixed: dynamic('priority_levels: 18446744073709551615 default_priority_level: 18446744073709551615'),
  },
  {
    rule: 'queue-policy-level',
    says: 'must have priority level in range [1, 2]',
    at: 'dynamic_batching.priority_queue_policy[3]',
    broken: dynamic('priority_levels: 2 default_priority_level: 1 priority_queue_policy { key: 3 value { } }'),
    fixed: dynamic('priority_levels: 2 default_priority_level: 1 priority_queue_policy { key: 2 value { } }'),
  },
  {
    rule: 'unused-queue-policy',
    says: 'has no effect without priorities',
    at: 'dynamic_batching.priority_queue_policy',
    broken: dynamic('priority_queue_policy { key: 1 value { max_queue_size: 1 } }'),
    fixed: dynamic('default_queue_policy { max_queue_size: 1 }'),
  },
  {
    rule: 'ordered-priority-levels',
    says: 'Only one priority level is allowed',
    at: 'dynamic_batching.priority_levels',
    broken: dynamic('preserve_ordering: true priority_levels: 2 default_priority_level: 1'),
    fixed: dynamic('preserve_ordering: true priority_levels: 1 default_priority_level: 1'),
  },
  {
    rule: 'ordered-delay',
    says: 'can not have DELAY as timeout action',
    at: 'dynamic_batching.default_queue_policy.timeout_action',
    broken: dynamic(
      'preserve_ordering: true default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 1 }',
    ),
    fixed: dynamic('preserve_ordering: true default_queue_policy { timeout_action: DELAY }'),
  },
  {
    rule: 'ordered-delay',
    says: 'can not have DELAY as timeout action',
    at: 'dynamic_batching.priority_queue_policy[1].timeout_action',
    broken: dynamic(
      'preserve_ordering: true priority_levels: 1 default_priority_level: 1 priority_queue_policy { key: 1 value { timeout_action: DELAY default_timeout_microseconds: 1 } }',
    ),
    fixed: dynamic(
      'priority_levels: 1 default_priority_level: 1 priority_queue_policy { key: 1 value { timeout_action: DELAY default_timeout_microseconds: 1 } }',
    ),
  },
];
