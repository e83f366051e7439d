import { describe, expect, test } from 'vitest';
import {
  type ConfigDiagnostic,
  createModelConfig,
  normalizeModelConfig,
  prepareModelConfig,
  RULE_NAMES,
  validateModelConfig,
} from '../src/index.ts';
import { RULE_CASES, type RuleCase } from './rule-cases/index.ts';

function diagnose(text: string, { directoryName = 'm', gpus, backends }: RuleCase): readonly ConfigDiagnostic[] {
  return prepareModelConfig(text, { directoryName, files: [], gpus, backends }).diagnostics;
}

/** Breaks of a rule that `prepareModelConfig` cannot meet, because an earlier step repairs them. */
const REPAIRED_BEFORE = ['name-missing', 'instance-group-missing', 'unresolved-kind'] as const;

const good = createModelConfig({
  name: 'm',
  backend: 'pytorch',
  platform: 'pytorch_libtorch',
  versionPolicy: { latest: { numVersions: 1 } },
  output: [{ name: 'y', dataType: 'TYPE_FP32', dims: [3] }],
  instanceGroup: [{ name: 'm', kind: 'KIND_CPU', count: 1 }],
});

describe('validateModelConfig', () => {
  test.each(RULE_CASES)('$rule: says "$says"', (row) => {
    const found = diagnose(row.broken, row).filter(({ reason }) => reason === row.rule);
    expect(found).toHaveLength(1);
    expect(found[0]?.message).toContain(row.says);
    expect(found[0]?.path).toBe(row.at);
    // Only what is missing at the top level stands nowhere.
    expect(found[0]?.span !== undefined).toBe(row.rule !== 'output-missing');
    expect(diagnose(row.fixed, row)).toEqual([]);
  });

  test.each(REPAIRED_BEFORE.map((rule) => ({ rule })))(
    '$rule is found when a step of the pipeline was left out',
    ({ rule }) => {
      const broken = {
        'name-missing': { ...good, name: '' },
        'instance-group-missing': { ...good, instanceGroup: [] },
        'unresolved-kind': {
          ...good,
          instanceGroup: good.instanceGroup.map((g) => ({ ...g, kind: 'KIND_AUTO' as const })),
        },
      }[rule];
      expect(validateModelConfig(good)).toEqual([]);
      expect(validateModelConfig(broken).map(({ reason }) => reason)).toEqual([rule]);
    },
  );

  test('every rule has a row', () => {
    const covered = new Set<string>([...RULE_CASES.map(({ rule }) => rule), ...REPAIRED_BEFORE]);
    expect(RULE_NAMES.filter((name) => !covered.has(name))).toEqual([]);
  });

  test('rules on tensors wait while a backend may complete them', () => {
    const bare = { ...good, output: [] };
    expect(validateModelConfig(bare, { incomplete: true })).toEqual([]);
    expect(validateModelConfig(bare).map(({ reason }) => reason)).toEqual(['output-missing']);
  });

  test('reports what is without effect as a warning, and everything else as an error', () => {
    const warnings = RULE_CASES.filter((row) =>
      diagnose(row.broken, row).every(({ severity }) => severity === 'warning'),
    );
    expect(new Set(warnings.map(({ rule }) => rule))).toEqual(
      new Set([
        'unknown-parameter',
        'unused-queue-policy',
        'unused-slot-delay',
        'control-is-input',
        'repeated-group-name',
        'skipped-warmup',
        'batch-input-target',
      ]),
    );
  });

  test('reports every fault of a file, not the first', () => {
    const { diagnostics, config } = prepareModelConfig(
      'backend: "pytorch" max_batch_size: -1 input [ { name: "x" dims: [ 0 ] } ] dynamic_batching { preferred_batch_size: 0 }',
      { directoryName: 'm', files: [] },
    );
    expect(config).toBeUndefined();
    expect(diagnostics.map(({ reason }) => reason)).toEqual([
      'negative-max-batch-size',
      'preferred-batch-size',
      'tensor-data-type',
      'tensor-dimension',
      'output-missing',
    ]);
  });

  test('a bare dynamic batcher is good with and without a batch dimension', () => {
    for (const maxBatchSize of [0, 8]) {
      const config = normalizeModelConfig({
        ...good,
        maxBatchSize,
        ...createModelConfig({ dynamicBatching: {} }).dynamicBatching,
      });
      expect(validateModelConfig(config)).toEqual([]);
    }
  });
});
