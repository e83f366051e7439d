/**
 * Shares what executions occupy among the instances of any number of schedulers, one batch per instance at a time.
 *
 * An instance is available until a batch is staged at it, staged until its resources are granted, all of them at once, and allocated until the batch is over. Of
 * the staged ones only the first in turn is tried: while its resources are short nobody else gets any, so that an instance that needs much is not passed over for ever
 * by those that need little.
 *
 * Turns: each execution moves an instance up by its priority, and the lowest is first. So an instance of priority 2 gets half the turns of one of
 * priority 1 while both have something to run. One that comes back from a pause starts level with the others.
 * Source: Triton core `src/rate_limiter.cc`. There a turn is executions × priority from the start of the process on, so that after a pause, or when it is
 * loaded later, an instance gets every turn until it has caught up.
 */
import { type ResourceDemand, type ResourceLimit, ResourcePool, type ResourceUse } from './resource-pool.ts';
import { LimitedInstance, Turns } from './turns.ts';

export interface RateLimiterOptions {
  /**
   * How many of each resource there are; one that is left out then has 0. By default each has as many as the instance that demands most of it.
   */
  readonly resources?: readonly ResourceLimit[] | undefined;
}

/** An instance before the limiter. */
export interface InstanceDemand {
  /** Device whose resources it takes; 0 by default. */
  readonly device?: number;
  /** Larger numbers get fewer turns; 0 and 1 are the same. 1 by default. */
  readonly priority?: number;
  /** Everything that must be free before an execution starts; nothing by default. */
  readonly resources?: readonly ResourceDemand[];
}

/** One for all schedulers whose instances share resources. */
export class RateLimiter {
  readonly #pool: ResourcePool;
  readonly #turns = new Turns();

  /** @throws {RangeError} for a count that is no whole number from 0 on */
  constructor({ resources }: RateLimiterOptions = {}) {
    this.#pool = new ResourcePool(resources);
  }

  /** Resources that instances demand, and how many of each are held now. */
  get resources(): readonly ResourceUse[] {
    return this.#pool.uses;
  }

  /**
   * Takes in instances, all or none.
   * @returns one for each, in the same order, to be closed when the instance is
   * @throws {RateLimitError} `too-few` for a limit that one of them exceeds by itself, `mixed-scope` for a name that is global in one place and not in another
   * @throws {RangeError} for a count that is no whole number from 0 on
   */
  register(instances: readonly InstanceDemand[]): readonly LimitedInstance[] {
    const held = this.#pool.add(instances.map(({ device = 0, resources = [] }) => ({ device, resources })));
    return instances.map(({ priority = 1 }, i) => {
      const holdings = held[i] ?? [];
      return new LimitedInstance({ turns: this.#turns, pool: this.#pool, holdings, weight: Math.max(priority, 1) });
    });
  }
}
