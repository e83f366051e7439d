import {
  type BatchingStatistics,
  type SchedulerOptions as CommonOptions,
  DefaultScheduler,
  DynamicScheduler,
  type InstanceLoad,
  joinRagged,
  SequenceScheduler,
} from '@nereid/batching';
import type {
  BatchStrategy,
  Clock,
  ExecutionReport,
  InferenceRequest,
  Logger,
  ModelInstance,
  Scheduler,
} from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';

/** How requests wait and run, as far as a model's configuration does not say it. */
export type SchedulerOptions = Omit<CommonOptions, 'instances' | 'clock' | 'rateLimits' | 'answersLate'>;

/** A scheduler as a loaded version uses it. */
export interface VersionScheduler extends Scheduler {
  /** Takes the report of an execution. */
  observe(execution: ExecutionReport): void;
  /** Whether it takes the request also after `stop()`, as one that continues a sequence; absent where there are no sequences. */
  continues?(request: InferenceRequest): boolean;
  /** Batches that each instance has. */
  readonly instances: readonly InstanceLoad[];
  /** How batches were formed; absent where each request runs by itself. */
  readonly batching?: BatchingStatistics;
}

/** Whether each request of the model gets any number of responses. */
export function isDecoupled({ modelTransactionPolicy }: ModelConfig): boolean {
  return modelTransactionPolicy?.decoupled === true;
}

/** The scheduler that a configuration asks for, before the instances that take requests. */
export function openScheduler(
  config: ModelConfig,
  parts: {
    readonly instances: readonly ModelInstance[];
    readonly clock: Clock;
    readonly logger: Logger;
    readonly options: Omit<CommonOptions, 'instances' | 'clock'>;
    readonly strategy?: BatchStrategy | undefined;
  },
): VersionScheduler {
  const { name: modelName, dynamicBatching, sequenceBatching, maxBatchSize, input } = config;
  const { options, strategy, ...rest } = parts;
  const ragged = new Set(input.filter(({ allowRaggedBatch }) => allowRaggedBatch).map(({ name }) => name));
  const canJoin = ragged.size > 0 ? joinRagged(ragged) : undefined;
  if (sequenceBatching !== undefined) {
    return new SequenceScheduler({ ...options, ...rest, maxBatchSize, sequenceBatching, canJoin });
  }
  const common = { ...options, ...rest, answersLate: isDecoupled(config) };
  if (dynamicBatching === undefined) return new DefaultScheduler(common);
  return new DynamicScheduler({ ...common, maxBatchSize, dynamicBatching, canJoin, strategy, modelName });
}
