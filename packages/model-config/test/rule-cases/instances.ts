import type { RuleCase } from './rule-case.ts';
import { base, group, TENSORRT, warmup } from './snippets.ts';

export const INSTANCES_CASES: readonly RuleCase[] = [
  // Instance groups
  ...(['KIND_CPU', 'KIND_MODEL'] as const).map(
    (kind): RuleCase => ({
      rule: 'unexpected-gpus',
      says: `has kind ${kind} but specifies one or more GPUs`,
      at: 'instance_group[0].gpus',
      broken: group(`kind: ${kind} gpus: [ 0 ]`),
      fixed: group(`kind: ${kind}`),
    }),
  ),
  {
    rule: 'unexpected-gpus',
    says: 'has kind KIND_CPU but specifies one or more GPUs',
    at: 'instance_group[0].gpus',
    broken: group('kind: KIND_AUTO gpus: [ 99 ]'),
    fixed: group('kind: KIND_AUTO gpus: [ 1 ]'),
    gpus: [0, 1],
  },
  {
    rule: 'gpu-support',
    says: 'server does not support GPUs',
    at: 'instance_group[0].kind',
    broken: group('kind: KIND_GPU'),
    fixed: group('kind: KIND_AUTO'),
  },
  {
    rule: 'gpu-support',
    says: 'no GPUs are available',
    at: 'instance_group[0].kind',
    broken: group('kind: KIND_GPU'),
    fixed: group('kind: KIND_AUTO'),
    gpus: [],
  },
  {
    rule: 'gpu-id',
    says: "specifies invalid or unsupported gpu id 7. GPUs with sufficient compute capability are: '0', '1'",
    at: 'instance_group[0].gpus[1]',
    broken: group('kind: KIND_GPU gpus: [ 0, 7 ]'),
    fixed: group('kind: KIND_GPU gpus: [ 0, 0 ]'),
    gpus: [0, 1],
  },
  {
    rule: 'profile-platform',
    says: 'profile field which is only supported for TensorRT',
    at: 'instance_group[0].profile',
    broken: group('kind: KIND_CPU profile: "0"'),
    fixed: `${TENSORRT} instance_group [ { kind: KIND_CPU profile: "0" } ]`,
    backends: ['tensorrt'],
  },
  {
    rule: 'profile-number',
    says: 'specifies invalid profile "-1"',
    at: 'instance_group[0].profile[1]',
    broken: `${TENSORRT} instance_group [ { kind: KIND_CPU profile: [ "0", "-1" ] } ]`,
    fixed: `${TENSORRT} instance_group [ { kind: KIND_CPU profile: [ "0", "1" ] } ]`,
    backends: ['tensorrt'],
  },
  {
    rule: 'instance-count',
    says: 'has count -1; expected 1 to 4096',
    at: 'instance_group[0].count',
    broken: group('kind: KIND_CPU count: -1'),
    fixed: group('kind: KIND_CPU count: 0'),
  },
  {
    rule: 'repeated-group-name',
    says: "are named 'g'",
    at: 'instance_group[1].name',
    broken: base('instance_group [ { name: "g" kind: KIND_CPU }, { name: "g" kind: KIND_CPU } ]'),
    fixed: base('instance_group [ { kind: KIND_CPU }, { kind: KIND_CPU } ]'),
  },
  // Warmup
  {
    rule: 'skipped-warmup',
    says: "warmup sample 'w' of m is skipped",
    at: 'model_warmup[0]',
    broken: base('model_warmup [ { name: "w" } ]'),
    fixed: base('model_warmup [ { name: "w" batch_size: 1 } ]'),
  },
  {
    rule: 'warmup-variable-dims',
    says: 'all variable-size dimensions are specified for input',
    at: 'model_warmup[0].inputs["x"].dims',
    broken: warmup('data_type: TYPE_FP32 dims: [ -1 ] zero_data: true'),
    fixed: warmup('data_type: TYPE_FP32 dims: [ 3 ] zero_data: false'),
  },
  {
    rule: 'warmup-dims',
    says: 'a dimension must be 1 or more, got 0',
    at: 'model_warmup[0].inputs["x"].dims[1]',
    broken: warmup('data_type: TYPE_FP32 dims: [ 3, 0 ] zero_data: true'),
    fixed: warmup('data_type: TYPE_FP32 dims: [ 3, 1 ] zero_data: true'),
  },
  {
    rule: 'warmup-data-type',
    says: "must specify 'data_type'",
    at: 'model_warmup[0].inputs["x"]',
    broken: warmup('dims: [ 3 ] zero_data: true'),
    fixed: warmup('data_type: TYPE_FP32 dims: [ 3 ] zero_data: true'),
  },
  {
    rule: 'warmup-data',
    says: 'to have input_data_type set',
    at: 'model_warmup[0].inputs["x"]',
    broken: warmup('data_type: TYPE_FP32 dims: [ 3 ]'),
    fixed: warmup('data_type: TYPE_FP32 dims: [ 3 ] random_data: true'),
  },
];
