export { CallQueue, type CallQueueOptions } from './call-queue.ts';
export { DefaultScheduler, type DefaultSchedulerOptions } from './default-scheduler.ts';
export { SchedulerError, type SchedulerErrorReason } from './errors.ts';
export type { FastLaneOptions } from './fast-lane.ts';
export { SystemClock } from './system-clock.ts';
