/** The instances of a version before the rate limiter that all models of an engine share. */
import type { LimitedInstance, RateLimiter, SchedulerOptions } from '@nereid/batching';
import type { InstanceSpec } from '@nereid/core';
import type { ModelRateLimiter } from '@nereid/model-config';
import type { OpenInstance } from './open-instance.ts';

/** An instance that is to be created. */
export interface PlannedInstance {
  readonly spec: InstanceSpec;
  /** Gets no requests from the scheduler. */
  readonly isPassive: boolean;
  /** Of its group; without one it demands nothing, with priority 1. */
  readonly rateLimiter?: ModelRateLimiter | undefined;
}

/** An instance with its place at the limiter; passive ones have none, nor has any without a limiter. */
export interface PlacedInstance extends PlannedInstance {
  readonly limited: LimitedInstance | undefined;
}

/**
 * Takes in the instances of a version, all or none. CPU and MODEL instances draw on the resources of device 0.
 * @throws {RateLimitError} when one of them could never run
 */
export function placeInstances(
  planned: readonly PlannedInstance[],
  limiter: RateLimiter | undefined,
): readonly PlacedInstance[] {
  const active = planned.filter(({ isPassive }) => !isPassive);
  const places = limiter?.register(
    active.map(({ spec, rateLimiter }) => ({
      device: spec.deviceId,
      priority: rateLimiter?.priority ?? 1,
      resources: rateLimiter?.resources ?? [],
    })),
  );
  return planned.map((instance) => ({ ...instance, limited: places?.[active.indexOf(instance)] }));
}

/** What a scheduler is given of the limiter. */
export function rateLimitsOf(open: readonly OpenInstance[]): Pick<SchedulerOptions, 'rateLimits'> {
  const rateLimits = new Map(
    open.flatMap(({ instance, limited }) => (limited === undefined ? [] : [[instance, limited] as const])),
  );
  return rateLimits.size === 0 ? {} : { rateLimits };
}
