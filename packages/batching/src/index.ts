export { type Alarm, AlarmClock } from './alarm-clock.ts';
export type { BatchingStatistics } from './batch-counters.ts';
export type { InstanceLoad } from './batch-runner.ts';
export { CallQueue, type CallQueueOptions } from './call-queue.ts';
export { DefaultScheduler } from './default-scheduler.ts';
export type { DynamicBatching, QueuePolicy, TimeoutAction } from './dynamic-batching.ts';
export { DynamicScheduler, type DynamicSchedulerOptions } from './dynamic-scheduler.ts';
export { RateLimitError, type RateLimitErrorReason, SchedulerError, type SchedulerErrorReason } from './errors.ts';
export type { FastLaneOptions } from './fast-lane.ts';
export { type PoissonOptions, poissonArrivals } from './poisson-arrivals.ts';
export { type InstanceDemand, RateLimiter, type RateLimiterOptions } from './rate-limiter.ts';
export type { ResourceDemand, ResourceLimit, ResourceUse } from './resource-pool.ts';
export { type JoinRule, joinRagged } from './same-inputs.ts';
export type { SchedulerOptions } from './scheduler-options.ts';
export type {
  DirectStrategy,
  OldestStrategy,
  SequenceBatching,
  SequenceControl,
  SequenceControlInput,
  SequenceControlKind,
} from './sequence-batching.ts';
export { SequenceScheduler, type SequenceSchedulerOptions } from './sequence-scheduler.ts';
export {
  type Distribution,
  type SimulatedArrival,
  type SimulationOptions,
  type SimulationResult,
  simulate,
} from './simulate.ts';
export { singleStrategy, type VolumeStrategyOptions, volumeStrategy } from './strategies.ts';
export { SystemClock } from './system-clock.ts';
export type { LimitedInstance } from './turns.ts';
