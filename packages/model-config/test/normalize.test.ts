import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createModelConfig, type Init, type ModelConfig, normalizeModelConfig } from '../src/index.ts';
import { arbitraryConfig } from './arbitrary-config.ts';

const normalize = (init: Init<ModelConfig>) => normalizeModelConfig(createModelConfig(init));

describe('normalizeModelConfig', () => {
  it('serves the latest version unless a policy says otherwise', () => {
    expect(normalize({}).versionPolicy).toEqual({ latest: { numVersions: 1 } });
    expect(normalize({ versionPolicy: { all: {} } }).versionPolicy).toEqual({ all: {} });
  });

  it('prefers batches of the maximum size, where there is a batch dimension', () => {
    const init = { dynamicBatching: {}, sequenceBatching: { oldest: {} } };
    const batching = normalize({ ...init, maxBatchSize: 8 });
    expect(batching.dynamicBatching?.preferredBatchSize).toEqual([8]);
    expect(batching.sequenceBatching?.oldest?.preferredBatchSize).toEqual([8]);
    expect(normalize(init).dynamicBatching?.preferredBatchSize).toEqual([]);
    expect(normalize(init).sequenceBatching?.oldest?.preferredBatchSize).toEqual([]);
    const given = normalize({ maxBatchSize: 8, dynamicBatching: { preferredBatchSize: [2] } });
    expect(given.dynamicBatching?.preferredBatchSize).toEqual([2]);
  });

  it('gives sequences one second of idle time', () => {
    const idle = (maxSequenceIdleMicroseconds: bigint) =>
      normalize({ sequenceBatching: { maxSequenceIdleMicroseconds } }).sequenceBatching?.maxSequenceIdleMicroseconds;
    expect([idle(0n), idle(5n)]).toEqual([1_000_000n, 5n]);
  });

  it('pins memory unless told otherwise, and never for an ensemble', () => {
    expect(normalize({}).optimization).toMatchObject({
      inputPinnedMemory: { enable: true },
      outputPinnedMemory: { enable: true },
    });
    const off = normalize({ optimization: { inputPinnedMemory: {}, eagerBatching: true } }).optimization;
    expect(off).toMatchObject({
      inputPinnedMemory: { enable: false },
      outputPinnedMemory: { enable: true },
      eagerBatching: true,
    });
    expect(normalize({ platform: 'ensemble' }).optimization).toBeUndefined();
  });

  it('changes nothing the second time', () => {
    const holds = (config: ModelConfig) => {
      const once = normalizeModelConfig(config);
      expect(normalizeModelConfig(once)).toEqual(once);
    };
    fc.assert(fc.property(arbitraryConfig, holds), { seed: 3, numRuns: 50 });
  });
});
