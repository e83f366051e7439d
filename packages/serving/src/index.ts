export {
  API_CATEGORIES,
  type ApiCategory,
  type ApiRestriction,
  ApiRestrictions,
  type RequestHeaders,
} from './api-restrictions.ts';
export type { BatchStrategyOptions } from './batch-strategy/open.ts';
export { type CheckServingOptions, checkServing, type ServingFinding } from './check-config.ts';
export type { Classification, WantedClasses } from './classification.ts';
export type {
  BatchStatistics,
  FailureReason,
  HistogramStatistics,
  InferenceEngine,
  LatencySummaryStatistics,
  ModelIndexEntry,
  ModelMetadata,
  ModelState,
  ModelStatistics,
  ResponseStatistics,
  StatisticDuration,
  SummaryStatistics,
  TensorMetadata,
} from './engine.ts';
export { ServingError, type ServingErrorReason } from './errors.ts';
export { HeaderForwarding, withForwarded } from './header-forwarding.ts';
export { Histogram } from './histogram.ts';
export type { LoadFailure } from './load-all.ts';
export type { FinishedListener, FinishedRequest } from './loaded-version.ts';
export type { ModelRow } from './model-set.ts';
export type { SchedulerOptions } from './open-scheduler.ts';
export { createEngine, type EngineOptions, type LoadReport, type ServingEngine } from './serving-engine.ts';
export type { LeftOver, StopOptions, StopReport } from './stop.ts';
export { quantileFault, type WantedQuantile } from './targeted-quantiles.ts';
