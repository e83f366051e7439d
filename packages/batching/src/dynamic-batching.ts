/** How a dynamic batcher is configured: the fields of Triton's `ModelDynamicBatching` and `ModelQueuePolicy`, and what they mean resolved. */

/** What happens to a request whose time in the queue is up: it fails, or waits on behind those whose time is not. */
export type TimeoutAction = 'REJECT' | 'DELAY';

/** How many requests of a priority level may wait, and for how long. */
export interface QueuePolicy {
  /** REJECT by default. */
  readonly timeoutAction?: TimeoutAction;
  /** Longest time in the queue; 0, the default, means any. */
  readonly defaultTimeoutMicroseconds?: number | bigint;
  /** Whether a request's own timeout may shorten the default; it never lengthens it. False by default. */
  readonly allowTimeoutOverride?: boolean;
  /** Requests that may wait; one more is failed with UNAVAILABLE. 0, the default, leaves it to the scheduler's own limit. */
  readonly maxQueueSize?: number;
}

/** When requests are joined and in what order they wait. A model configuration's `dynamicBatching` fits. */
export interface DynamicBatching {
  /** Batch sizes that are sent at once; the largest that is allowed by default. They are no minimum. */
  readonly preferredBatchSize?: readonly number[];
  /** How long a batch of another size is held back for more requests while an instance is free; 0 by default. */
  readonly maxQueueDelayMicroseconds?: number | bigint;
  /** Whether answers leave in the order in which the requests came, over all instances. False by default. */
  readonly preserveOrdering?: boolean;
  /** Levels are 1 to this number, 1 is served first; 0, the default, turns priorities off. */
  readonly priorityLevels?: number | bigint;
  /** Level of requests that name none, or one that does not exist. Required when there are levels. */
  readonly defaultPriorityLevel?: number | bigint;
  /** Policy of the levels that have none of their own. */
  readonly defaultQueuePolicy?: QueuePolicy;
  /** Policy by level. Without effect while priorities are off. */
  readonly priorityQueuePolicy?: ReadonlyMap<bigint, QueuePolicy> | ReadonlyMap<number, QueuePolicy>;
}

/** A priority level: a number where that is exact, a bigint beyond. */
export type PriorityLevel = number | bigint;

/** A queue policy with its defaults filled in. */
export interface LevelPolicy {
  readonly timeoutAction: TimeoutAction;
  /** Infinity without a limit. */
  readonly timeoutMicros: number;
  readonly allowTimeoutOverride: boolean;
  /** 0 without a limit of its own. */
  readonly maxQueueSize: number;
}

/** The levels of a queue and the policy of each. */
export class PriorityLevels {
  /** 0 while priorities are off. */
  readonly defaultLevel: PriorityLevel;
  readonly defaultPolicy: LevelPolicy;
  /** Policies that are set for one level. */
  readonly policies: ReadonlyMap<PriorityLevel, LevelPolicy>;
  readonly #last: PriorityLevel;

  /** @throws {RangeError} for a default level or a policy outside of the levels, and what else contradicts itself */
  constructor(config: DynamicBatching) {
    this.#last = exact(config.priorityLevels ?? 0);
    this.defaultLevel = this.#last === 0 ? 0 : exact(config.defaultPriorityLevel ?? 0);
    this.defaultPolicy = levelPolicy(config.defaultQueuePolicy, config);
    this.policies = this.#last === 0 ? new Map() : levelPolicies(config);
    if (config.preserveOrdering && this.#last > 1) {
      throw new RangeError(`preserveOrdering takes one priority level at most, got ${this.#last}`);
    }
    for (const level of this.#last === 0 ? [] : [this.defaultLevel, ...this.policies.keys()]) {
      if (level < 1 || level > this.#last)
        throw new RangeError(`a priority level must be in 1 to ${this.#last}, got ${level}`);
    }
  }

  /** Whether requests wait in the order of arrival, for any time, in any number: then it makes no difference when they leave the queue. */
  get isPlain(): boolean {
    const isPlain = (policy: LevelPolicy) =>
      policy.timeoutMicros === Number.POSITIVE_INFINITY && !policy.allowTimeoutOverride && policy.maxQueueSize === 0;
    return this.#last <= 1 && [this.defaultPolicy, ...this.policies.values()].every(isPlain);
  }

  /** The level at which a request with this priority waits. */
  levelOf(priority: number | bigint): PriorityLevel {
    const isLevel = priority >= 1 && priority <= this.#last && (typeof priority === 'bigint' || priority % 1 === 0);
    return isLevel ? exact(priority) : this.defaultLevel;
  }

  policyOf(level: PriorityLevel): LevelPolicy {
    return this.policies.get(level) ?? this.defaultPolicy;
  }
}

/**
 * How long a request may wait. Its own timeout counts when the policy allows that and it is shorter than the default.
 * Source: Triton core `src/scheduler_utils.cc`, `PriorityQueue::PolicyQueue::Enqueue`, where a default of 0 can never be undercut;
 * here 0 stands for an infinite one.
 */
export function timeoutMicrosOf(policy: LevelPolicy, timeoutMicroseconds: number | bigint): number {
  if (!policy.allowTimeoutOverride) return policy.timeoutMicros;
  const own = Number(timeoutMicroseconds);
  return own > 0 && own < policy.timeoutMicros ? own : policy.timeoutMicros;
}

function levelPolicies(config: DynamicBatching): ReadonlyMap<PriorityLevel, LevelPolicy> {
  const policies = new Map<PriorityLevel, LevelPolicy>();
  config.priorityQueuePolicy?.forEach((policy: QueuePolicy, level: number | bigint) => {
    policies.set(exact(level), levelPolicy(policy, config));
  });
  return policies;
}

function levelPolicy(policy: QueuePolicy = {}, { preserveOrdering = false }: DynamicBatching): LevelPolicy {
  const { timeoutAction = 'REJECT', allowTimeoutOverride = false, maxQueueSize = 0 } = policy;
  const timeout = Number(policy.defaultTimeoutMicroseconds ?? 0);
  if (!(timeout >= 0)) throw new RangeError(`a queue timeout must be 0 or more microseconds, got ${timeout}`);
  checkQueueSize(maxQueueSize);
  const isReordering = timeoutAction === 'DELAY' && preserveOrdering;
  if (isReordering && timeout > 0) {
    throw new RangeError('preserveOrdering does not go with the timeout action DELAY, which changes the order');
  }
  return {
    timeoutAction,
    timeoutMicros: timeout === 0 ? Number.POSITIVE_INFINITY : timeout,
    allowTimeoutOverride: allowTimeoutOverride && !isReordering,
    maxQueueSize,
  };
}

/** @throws {RangeError} unless it is a whole number from 0 on */
export function checkQueueSize(maxQueueSize: number): void {
  if (Number.isInteger(maxQueueSize) && maxQueueSize >= 0) return;
  throw new RangeError(`maxQueueSize must be a whole number from 0 on, where 0 means no limit; got ${maxQueueSize}`);
}

/** One spelling per value, so that levels can be keys. */
function exact(value: number | bigint): PriorityLevel {
  if (typeof value === 'bigint') return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
  if (!Number.isInteger(value)) throw new RangeError(`a priority level must be a whole number, got ${value}`);
  return Number.isSafeInteger(value) ? value : BigInt(value);
}
