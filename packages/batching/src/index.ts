export type { BatchingStatistics } from './batch-counters.ts';
export { CallQueue, type CallQueueOptions } from './call-queue.ts';
export { DefaultScheduler } from './default-scheduler.ts';
export type { DynamicBatching, QueuePolicy, TimeoutAction } from './dynamic-batching.ts';
export { DynamicScheduler, type DynamicSchedulerOptions } from './dynamic-scheduler.ts';
export { SchedulerError, type SchedulerErrorReason } from './errors.ts';
export type { FastLaneOptions } from './fast-lane.ts';
export type { SchedulerOptions } from './scheduler-options.ts';
export { SystemClock } from './system-clock.ts';
