import type {
  ModelConfig,
  ModelDynamicBatching,
  ModelOptimizationPolicy,
  ModelSequenceBatching,
} from './generated/types.ts';

const DEFAULT_SEQUENCE_IDLE_MICROSECONDS = 1_000_000n;

const NO_OPTIMIZATION: ModelOptimizationPolicy = {
  priority: 'PRIORITY_DEFAULT',
  gatherKernelBufferThreshold: 0,
  eagerBatching: false,
};

/**
 * Fills in what an absent field means: the latest version, `max_batch_size` as the preferred batch size, one second of sequence idle
 * time, pinned memory on (never for an ensemble). Idempotent; the given configuration is not changed.
 * Source: triton core `src/model_config_utils.cc`, `NormalizeModelConfig`.
 */
export function normalizeModelConfig(config: ModelConfig): ModelConfig {
  const { maxBatchSize, dynamicBatching, sequenceBatching } = config;
  return {
    ...config,
    versionPolicy: config.versionPolicy ?? { latest: { numVersions: 1 } },
    ...(config.platform !== 'ensemble' && { optimization: withPinnedMemory(config.optimization) }),
    ...(dynamicBatching && { dynamicBatching: withPreferredSize(dynamicBatching, maxBatchSize) }),
    ...(sequenceBatching && { sequenceBatching: normalizeSequenceBatching(sequenceBatching, maxBatchSize) }),
  };
}

function withPinnedMemory(optimization = NO_OPTIMIZATION): ModelOptimizationPolicy {
  const { inputPinnedMemory = { enable: true }, outputPinnedMemory = { enable: true } } = optimization;
  return { ...optimization, inputPinnedMemory, outputPinnedMemory };
}

function withPreferredSize<T extends Pick<ModelDynamicBatching, 'preferredBatchSize'>>(batching: T, max: number): T {
  return batching.preferredBatchSize.length === 0 && max > 0 ? { ...batching, preferredBatchSize: [max] } : batching;
}

function normalizeSequenceBatching(batching: ModelSequenceBatching, maxBatchSize: number): ModelSequenceBatching {
  const { maxSequenceIdleMicroseconds: idle, oldest } = batching;
  return {
    ...batching,
    maxSequenceIdleMicroseconds: idle === 0n ? DEFAULT_SEQUENCE_IDLE_MICROSECONDS : idle,
    ...(oldest && { oldest: withPreferredSize(oldest, maxBatchSize) }),
  };
}
