import { describe, expect, it } from 'vitest';
import { canUpdateInPlace, createModelConfig, instanceGroupSignature } from '../src/index.ts';

const base = createModelConfig({
  name: 'm',
  maxBatchSize: 4,
  instanceGroup: [{ name: 'm_0', kind: 'KIND_CPU', count: 1 }],
});
const [group] = createModelConfig({
  instanceGroup: [{ name: 'a', kind: 'KIND_GPU', count: 1, gpus: [0] }],
}).instanceGroup;

describe('canUpdateInPlace', () => {
  it('allows other instance groups and another version policy', () => {
    expect(canUpdateInPlace(base, { ...base, instanceGroup: [], versionPolicy: { all: {} } })).toBe(true);
  });

  it('allows nothing else', () => {
    expect(canUpdateInPlace(base, { ...base, maxBatchSize: 8 })).toBe(false);
    expect(
      canUpdateInPlace(base, {
        ...base,
        dynamicBatching: createModelConfig({ dynamicBatching: {} }).dynamicBatching ?? expect.fail(),
      }),
    ).toBe(false);
    expect(canUpdateInPlace(base, { ...base, metricTags: new Map([['a', 'b']]) })).toBe(false);
  });
});

describe('instanceGroupSignature', () => {
  it('ignores name and count, and nothing else', () => {
    if (group === undefined) return expect.fail();
    const signature = instanceGroupSignature(group);
    expect(instanceGroupSignature({ ...group, name: 'b', count: 9 })).toBe(signature);
    expect(instanceGroupSignature({ ...group, gpus: [1] })).not.toBe(signature);
    expect(instanceGroupSignature({ ...group, kind: 'KIND_CPU' })).not.toBe(signature);
    expect(instanceGroupSignature({ ...group, passive: true })).not.toBe(signature);
  });
});
