/** Two batching strategies, of use as they are and as patterns for one's own. */
import type { BatchStrategy, InferenceRequest } from '@nereid/core';

/** Every request is a batch of its own. Source: Triton core `examples/batching_strategies/single_batching`. */
export function singleStrategy(): BatchStrategy {
  return { startBatch: () => ({ include: () => false }) };
}

export interface VolumeStrategyOptions {
  /** Bytes of all inputs of all requests of a batch together, at most; a request that has more by itself runs alone. */
  readonly maxBatchBytes: number;
}

/**
 * Limits what a batch copies and moves, where requests of one row differ in size.
 * @throws {RangeError} unless `maxBatchBytes` is 0 or more
 * Source: Triton core `examples/batching_strategies/volume_batching`.
 */
export function volumeStrategy({ maxBatchBytes }: VolumeStrategyOptions): BatchStrategy {
  if (!(maxBatchBytes >= 0)) throw new RangeError(`maxBatchBytes must be a number from 0 on, got ${maxBatchBytes}`);
  return {
    startBatch: () => {
      let bytes = 0;
      return {
        include: (request) => {
          bytes += inputBytesOf(request);
          return bytes <= maxBatchBytes;
        },
      };
    },
  };
}

function inputBytesOf({ inputs }: InferenceRequest): number {
  return inputs.reduce((bytes, { data }) => bytes + data.byteLength, 0);
}
