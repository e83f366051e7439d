import { entryPath } from '../fields.ts';
import type { ModelDynamicBatching, ModelQueuePolicy } from '../generated/types.ts';
import type { Check } from './rule.ts';

const PATH = 'dynamic_batching';

const preferredSize: Check = function* ({ config, model }) {
  for (const [i, size] of (config.dynamicBatching?.preferredBatchSize ?? []).entries()) {
    const path = `${PATH}.preferred_batch_size[${i}]`;
    if (size <= 0)
      yield { path, message: `dynamic batching preferred size must be positive for ${model}, got ${size}` };
    else if (size > config.maxBatchSize) {
      const message = `dynamic batching preferred size must be <= max batch size for ${model}, got ${size} and ${config.maxBatchSize}; raise 'max_batch_size' or leave the size out`;
      yield { path, message };
    }
  }
};

const defaultPriorityLevel: Check = function* ({ config, model }) {
  const { priorityLevels: levels = 0n, defaultPriorityLevel: level = 0n } = config.dynamicBatching ?? {};
  if (levels === 0n || (level >= 1n && level <= levels)) return;
  const message = `default priority level must be in range [1, ${levels}] for ${model}, got ${level}; set 'default_priority_level'`;
  yield { path: `${PATH}.default_priority_level`, message };
};

const queuePolicyLevel: Check = function* ({ config, model }) {
  const { priorityLevels: levels = 0n, priorityQueuePolicy } = config.dynamicBatching ?? {};
  if (levels === 0n) return;
  for (const level of priorityQueuePolicy?.keys() ?? []) {
    if (level >= 1n && level <= levels) continue;
    const message = `queue policy must have priority level in range [1, ${levels}] for ${model}, got ${level}`;
    yield { path: entryPath(`${PATH}.priority_queue_policy`, level), message };
  }
};

/** Triton accepts them in silence. */
const unusedQueuePolicy: Check = function* ({ config, model }) {
  const { priorityLevels, priorityQueuePolicy } = config.dynamicBatching ?? {};
  if (priorityLevels !== 0n || !priorityQueuePolicy?.size) return;
  const message = `'priority_queue_policy' of ${model} has no effect without priorities; set 'priority_levels' or use 'default_queue_policy'`;
  yield { severity: 'warning', path: `${PATH}.priority_queue_policy`, message };
};

const orderedLevels: Check = function* ({ config, model }) {
  const { preserveOrdering, priorityLevels = 0n } = config.dynamicBatching ?? {};
  if (!preserveOrdering || priorityLevels <= 1n) return;
  const message = `Only one priority level is allowed when 'preserve_ordering' is true for ${model}, got ${priorityLevels}; drop one of the two`;
  yield { path: `${PATH}.priority_levels`, message };
};

const orderedDelay: Check = function* ({ config, model }) {
  if (!config.dynamicBatching?.preserveOrdering) return;
  for (const { policy, path } of queuePolicies(config.dynamicBatching)) {
    if (policy.timeoutAction !== 'DELAY' || policy.defaultTimeoutMicroseconds === 0n) continue;
    const message = `queue policy can not have DELAY as timeout action when 'preserve_ordering' is true for ${model}; use REJECT`;
    yield { path: `${path}.timeout_action`, message };
  }
};

function* queuePolicies(batching: ModelDynamicBatching): Iterable<{ policy: ModelQueuePolicy; path: string }> {
  if (batching.defaultQueuePolicy) yield { policy: batching.defaultQueuePolicy, path: `${PATH}.default_queue_policy` };
  for (const [level, policy] of batching.priorityQueuePolicy) {
    yield { policy, path: entryPath(`${PATH}.priority_queue_policy`, level) };
  }
}

/** Rules on the dynamic batcher. */
export const DYNAMIC_BATCHING_RULES = {
  'preferred-batch-size': preferredSize,
  'default-priority-level': defaultPriorityLevel,
  'queue-policy-level': queuePolicyLevel,
  'unused-queue-policy': unusedQueuePolicy,
  'ordered-priority-levels': orderedLevels,
  'ordered-delay': orderedDelay,
} satisfies Record<string, Check>;
