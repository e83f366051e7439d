import {
  type BatchingStatistics,
  type SchedulerOptions as CommonOptions,
  DefaultScheduler,
  DynamicScheduler,
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
export type SchedulerOptions = Omit<CommonOptions, 'instances' | 'clock' | 'rateLimits'>;

/** A scheduler as a loaded version uses it. */
export interface VersionScheduler extends Scheduler {
  /** Takes the report of an execution. */
  observe(execution: ExecutionReport): void;
  /** Whether it takes the request also after `stop()`, as one that continues a sequence; absent where there are no sequences. */
  continues?(request: InferenceRequest): boolean;
  /** How batches were formed; absent where each request runs by itself. */
  readonly batching?: BatchingStatistics;
}

/** The scheduler that a configuration asks for, before the instances that take requests. */
export function openScheduler(
  { name: modelName, dynamicBatching, sequenceBatching, maxBatchSize, input }: ModelConfig,
  parts: {
    readonly instances: readonly ModelInstance[];
    readonly clock: Clock;
    readonly logger: Logger;
    readonly options: Omit<CommonOptions, 'instances' | 'clock'>;
    readonly strategy?: BatchStrategy | undefined;
  },
): VersionScheduler {
  const { options, strategy, ...rest } = parts;
  const ragged = new Set(input.filter(({ allowRaggedBatch }) => allowRaggedBatch).map(({ name }) => name));
  const canJoin = ragged.size > 0 ? joinRagged(ragged) : undefined;
  if (sequenceBatching !== undefined) {
    return new SequenceScheduler({ ...options, ...rest, maxBatchSize, sequenceBatching, canJoin });
  }
  if (dynamicBatching === undefined) return new DefaultScheduler({ ...options, ...rest });
  return new DynamicScheduler({ ...options, ...rest, maxBatchSize, dynamicBatching, canJoin, strategy, modelName });
}
