/** One row per refusal: a configuration that breaks a rule, and one as near as possible that breaks none. */
import type { RuleName } from '../src/rules/index.ts';

export interface RuleCase {
  readonly rule: RuleName;
  /** Part of the message that clients and tests of the original match on. */
  readonly says: string;
  /** Path of the diagnostic. */
  readonly at: string;
  readonly broken: string;
  readonly fixed: string;
  /** Usable GPUs; none and no support for them unless given. */
  readonly gpus?: readonly number[];
  readonly directoryName?: string;
  readonly backends?: readonly string[];
}

const X = 'input [ { name: "x" data_type: TYPE_FP32 dims: [ 3 ] } ]';
const Y = 'output [ { name: "y" data_type: TYPE_FP32 dims: [ 3 ] } ]';
const TORCH = 'backend: "pytorch" platform: "pytorch_libtorch"';
const BASE = `${TORCH} max_batch_size: 4 ${X} ${Y}`;
const UNBATCHED = `${TORCH} ${X} ${Y}`;
const TENSORRT = `platform: "tensorrt_plan" max_batch_size: 4 ${X} ${Y}`;

const base = (rest: string) => `${BASE} ${rest}`;
const dynamic = (rest: string) => base(`dynamic_batching { ${rest} }`);
const sequence = (rest: string) => base(`sequence_batching { ${rest} }`);
const control = (rest: string) => sequence(`control_input [ { name: "c" control [ { ${rest} } ] } ]`);
const state = (rest: string, initial = '') =>
  sequence(`state [ { ${rest} ${initial && `initial_state [ ${initial} ]`} } ]`);
const STATE = 'input_name: "i" output_name: "o" data_type: TYPE_FP32 dims: [ 1, -1 ]';
const ZEROS = '{ name: "zero" data_type: TYPE_FP32 dims: [ 1, 2 ] zero_data: true }';
const input = (rest: string) => `${TORCH} max_batch_size: 4 input [ { ${rest} } ] ${Y}`;
const inputOf = (head: string, rest: string) =>
  `${head} max_batch_size: 4 input [ { name: "x" data_type: TYPE_FP32 ${rest} } ] ${Y}`;
const reshape = (dims: string, shape: string) => inputOf(TORCH, `dims: [ ${dims} ] reshape { shape: [ ${shape} ] }`);
const batchInput = (rest: string) => base(`batch_input [ { target_name: "b" ${rest} } ]`);
const batchOutput = (rest: string) => base(`batch_output [ { ${rest} } ]`);
const group = (rest: string) => base(`instance_group [ { ${rest} } ]`);
const warmup = (rest: string) =>
  base(`model_warmup [ { name: "w" batch_size: 1 inputs { key: "x" value { ${rest} } } } ]`);
const metric = (rest: string) => base(`model_metrics { metric_control [ { ${rest} } ] }`);
const FAMILY = 'metric_identifier { family: "nv_inference_first_response_histogram_ms" }';

const step = (model: string, inputMap: string, outputMap: string) =>
  `{ model_name: "${model}" model_version: -1 ${map('input_map', inputMap)} ${map('output_map', outputMap)} }`;
const map = (name: string, entries: string) =>
  entries
    .split(' ')
    .filter((entry) => entry !== '')
    .map((entry) => entry.split('=').map((word) => `"${word}"`))
    .map(([key, value]) => `${name} { key: ${key} value: ${value} }`)
    .join(' ');
const ensemble = (steps: readonly string[], rest = '') =>
  `platform: "ensemble" ${X} ${Y} ensemble_scheduling { step [ ${steps.join(', ')} ] } ${rest}`;
const CHAIN = [step('a', 'in=x', 'out=t'), step('b', 'in=t', 'out=y')];

export const RULE_CASES: readonly RuleCase[] = [
  // Top level
  {
    rule: 'backend-missing',
    says: "unexpected platform type 'caffe' for m",
    at: 'platform',
    broken: `platform: "caffe" ${X} ${Y}`,
    fixed: `platform: "caffe" backend: "caffe" ${X} ${Y}`,
  },
  {
    rule: 'ensemble-backend',
    says: "must have platform type 'ensemble' and empty backend type",
    at: 'backend',
    broken: ensemble(CHAIN, 'backend: "pytorch"'),
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'platform-backend-pair',
    says: "unexpected 'platform' and 'backend' pair, got:tensorrt_plan, pytorch",
    at: 'platform',
    broken: `backend: "pytorch" platform: "tensorrt_plan" ${X} ${Y}`,
    fixed: `backend: "pytorch" platform: "libtorch" ${X} ${Y}`,
  },
  {
    rule: 'platform-backend-pair',
    says: "unexpected 'platform' and 'backend' pair, got:pytorch_libtorch, onnxruntime",
    at: 'platform',
    broken: `backend: "onnxruntime" platform: "pytorch_libtorch" ${X} ${Y}`,
    fixed: `backend: "mine" platform: "pytorch_libtorch" ${X} ${Y}`,
    backends: ['onnxruntime'],
  },
  {
    rule: 'negative-max-batch-size',
    says: "'max_batch_size' must be non-negative",
    at: 'max_batch_size',
    broken: `${UNBATCHED} max_batch_size: -1`,
    fixed: `${UNBATCHED} max_batch_size: 0`,
  },
  {
    rule: 'version-policy-missing',
    says: "must specify 'version policy'",
    at: 'version_policy',
    broken: base('version_policy { }'),
    fixed: base(''),
  },
  {
    rule: 'version-policy-empty',
    says: "'num_versions' is 0",
    at: 'version_policy.latest',
    broken: base('version_policy { latest { } }'),
    fixed: base('version_policy { latest { num_versions: 2 } }'),
  },
  {
    rule: 'version-policy-empty',
    says: 'lists no version',
    at: 'version_policy.specific',
    broken: base('version_policy { specific { } }'),
    fixed: base('version_policy { specific { versions: [ 1, 3 ] } }'),
  },
  {
    rule: 'directory-name',
    says: "unexpected directory name 'm' for model 'other'",
    at: 'name',
    broken: base('name: "other"'),
    fixed: base('name: "m"'),
  },
  {
    rule: 'unknown-parameter',
    says: "did you mean 'INFERENCE_MODE'?",
    at: 'parameters["INFERENCE_MODUS"]',
    broken: base('parameters { key: "INFERENCE_MODUS" value { string_value: "true" } }'),
    fixed: base('parameters { key: "INFERENCE_MODE" value { string_value: "true" } }'),
  },
  {
    rule: 'unknown-parameter',
    says: "parameter 'colour' of m has no effect",
    at: 'parameters["colour"]',
    broken: base('parameters { key: "colour" value { string_value: "red" } }'),
    fixed: `backend: "mine" ${X} ${Y} parameters { key: "colour" value { string_value: "red" } }`,
  },
  {
    rule: 'escaping-file-name',
    says: "'label_filename' of m escapes the model directory",
    at: 'output[0].label_filename',
    broken: `${TORCH} ${X} output [ { name: "y" data_type: TYPE_FP32 dims: [ 3 ] label_filename: "a/../../x" } ]`,
    fixed: `${TORCH} ${X} output [ { name: "y" data_type: TYPE_FP32 dims: [ 3 ] label_filename: "a/../x" } ]`,
  },
  {
    rule: 'escaping-file-name',
    says: 'escapes backend directory',
    at: 'runtime',
    broken: base('runtime: "/lib/libx.so"'),
    fixed: base('runtime: "libx.so"'),
  },
  {
    rule: 'escaping-file-name',
    says: "'cc_model_filenames' of m escapes the version directory",
    at: 'cc_model_filenames["7.5"]',
    broken: base('cc_model_filenames { key: "7.5" value: "C:\\\\model.pt" }'),
    fixed: base('cc_model_filenames { key: "7.5" value: "model_75.pt" }'),
  },
  {
    rule: 'escaping-file-name',
    says: "'input_data_file' of m escapes",
    at: 'model_warmup[0].inputs["x"].input_data_file',
    broken: warmup('data_type: TYPE_FP32 dims: [ 3 ] input_data_file: "../x"'),
    fixed: warmup('data_type: TYPE_FP32 dims: [ 3 ] input_data_file: "x"'),
  },
  // Dynamic batching
  {
    rule: 'preferred-batch-size',
    says: 'dynamic batching preferred size must be positive',
    at: 'dynamic_batching.preferred_batch_size[1]',
    broken: dynamic('preferred_batch_size: [ 2, 0 ]'),
    fixed: dynamic('preferred_batch_size: [ 2, 1 ]'),
  },
  {
    rule: 'preferred-batch-size',
    says: 'preferred size must be <= max batch size',
    at: 'dynamic_batching.preferred_batch_size[0]',
    broken: dynamic('preferred_batch_size: 5'),
    fixed: dynamic('preferred_batch_size: 4'),
  },
  {
    rule: 'preferred-batch-size',
    says: 'preferred size must be <= max batch size',
    at: 'dynamic_batching.preferred_batch_size[0]',
    broken: `${UNBATCHED} dynamic_batching { preferred_batch_size: 1 }`,
    fixed: `${UNBATCHED} dynamic_batching { }`,
  },
  {
    rule: 'default-priority-level',
    says: 'default priority level must be in range [1, 3]',
    at: 'dynamic_batching.default_priority_level',
    broken: dynamic('priority_levels: 3'),
    fixed: dynamic('priority_levels: 3 default_priority_level: 3'),
  },
  {
    rule: 'default-priority-level',
    says: 'default priority level must be in range [1, 3]',
    at: 'dynamic_batching.default_priority_level',
    broken: dynamic('priority_levels: 3 default_priority_level: 4'),
    fixed: dynamic('priority_levels: 18446744073709551615 default_priority_level: 18446744073709551615'),
  },
  {
    rule: 'queue-policy-level',
    says: 'must have priority level in range [1, 2]',
    at: 'dynamic_batching.priority_queue_policy[3]',
    broken: dynamic('priority_levels: 2 default_priority_level: 1 priority_queue_policy { key: 3 value { } }'),
    fixed: dynamic('priority_levels: 2 default_priority_level: 1 priority_queue_policy { key: 2 value { } }'),
  },
  {
    rule: 'unused-queue-policy',
    says: 'has no effect without priorities',
    at: 'dynamic_batching.priority_queue_policy',
    broken: dynamic('priority_queue_policy { key: 1 value { max_queue_size: 1 } }'),
    fixed: dynamic('default_queue_policy { max_queue_size: 1 }'),
  },
  {
    rule: 'ordered-priority-levels',
    says: 'Only one priority level is allowed',
    at: 'dynamic_batching.priority_levels',
    broken: dynamic('preserve_ordering: true priority_levels: 2 default_priority_level: 1'),
    fixed: dynamic('preserve_ordering: true priority_levels: 1 default_priority_level: 1'),
  },
  {
    rule: 'ordered-delay',
    says: 'can not have DELAY as timeout action',
    at: 'dynamic_batching.default_queue_policy.timeout_action',
    broken: dynamic(
      'preserve_ordering: true default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 1 }',
    ),
    fixed: dynamic('preserve_ordering: true default_queue_policy { timeout_action: DELAY }'),
  },
  {
    rule: 'ordered-delay',
    says: 'can not have DELAY as timeout action',
    at: 'dynamic_batching.priority_queue_policy[1].timeout_action',
    broken: dynamic(
      'preserve_ordering: true priority_levels: 1 default_priority_level: 1 priority_queue_policy { key: 1 value { timeout_action: DELAY default_timeout_microseconds: 1 } }',
    ),
    fixed: dynamic(
      'priority_levels: 1 default_priority_level: 1 priority_queue_policy { key: 1 value { timeout_action: DELAY default_timeout_microseconds: 1 } }',
    ),
  },
  // Sequence batching
  {
    rule: 'oldest-preferred-batch-size',
    says: 'sequence batching preferred batch size must be positive',
    at: 'sequence_batching.oldest.preferred_batch_size[0]',
    broken: sequence('oldest { preferred_batch_size: -1 }'),
    fixed: sequence('oldest { preferred_batch_size: 1 }'),
  },
  {
    rule: 'oldest-preferred-batch-size',
    says: 'must be <= max batch size',
    at: 'sequence_batching.oldest.preferred_batch_size[0]',
    broken: sequence('oldest { preferred_batch_size: 8 }'),
    fixed: sequence('oldest { }'),
  },
  {
    rule: 'slot-utilization',
    says: 'minimum slot utilization must be in range',
    at: 'sequence_batching.direct.minimum_slot_utilization',
    broken: sequence('direct { minimum_slot_utilization: 1.5 }'),
    fixed: sequence('direct { minimum_slot_utilization: 1 }'),
  },
  {
    rule: 'slot-utilization',
    says: 'minimum slot utilization must be in range',
    at: 'sequence_batching.direct.minimum_slot_utilization',
    broken: sequence('direct { minimum_slot_utilization: nan }'),
    fixed: sequence('direct { minimum_slot_utilization: 0 }'),
  },
  {
    rule: 'unused-slot-delay',
    says: "has no effect without 'minimum_slot_utilization'",
    at: 'sequence_batching.direct.max_queue_delay_microseconds',
    broken: sequence('direct { max_queue_delay_microseconds: 100 }'),
    fixed: sequence('direct { max_queue_delay_microseconds: 100 minimum_slot_utilization: 0.5 }'),
  },
  {
    rule: 'control-name',
    says: 'control tensor must have a name',
    at: 'sequence_batching.control_input[0]',
    broken: sequence('control_input [ { control [ ] } ]'),
    fixed: sequence('control_input [ { name: "c" control [ ] } ]'),
  },
  {
    rule: 'repeated-control-name',
    says: 'is specified for multiple control kinds',
    at: 'sequence_batching.control_input[1].name',
    broken: sequence('control_input [ { name: "c" }, { name: "c" } ]'),
    fixed: sequence('control_input [ { name: "c" }, { name: "d" } ]'),
  },
  {
    rule: 'repeated-control-kind',
    says: 'specifies multiple CONTROL_SEQUENCE_END tensors',
    at: 'sequence_batching.control_input[1].control[0].kind',
    broken: sequence(
      ['c', 'd']
        .map((c) => `control_input { name: "${c}" control { kind: CONTROL_SEQUENCE_END int32_false_true: [ 0, 1 ] } }`)
        .join(' '),
    ),
    fixed: sequence(
      'control_input { name: "c" control { kind: CONTROL_SEQUENCE_END int32_false_true: [ 0, 1 ] } control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } }',
    ),
  },
  {
    rule: 'control-values',
    says: "must specify either 'int32_false_true'",
    at: 'sequence_batching.control_input[0].control[0]',
    broken: control('kind: CONTROL_SEQUENCE_READY'),
    fixed: control('kind: CONTROL_SEQUENCE_READY bool_false_true: [ false, true ]'),
  },
  {
    rule: 'control-values',
    says: 'specifies more than one from',
    at: 'sequence_batching.control_input[0].control[0]',
    broken: control('int32_false_true: [ 0, 1 ] fp32_false_true: [ 0, 1 ]'),
    fixed: control('fp32_false_true: [ 0, 1 ]'),
  },
  {
    rule: 'control-value-count',
    says: 'must have exactly 2 entries',
    at: 'sequence_batching.control_input[0].control[0].int32_false_true',
    broken: control('int32_false_true: [ 0, 1, 2 ]'),
    fixed: control('int32_false_true: [ 0, 1 ]'),
  },
  {
    rule: 'correlation-id-values',
    says: 'must not specify either',
    at: 'sequence_batching.control_input[0].control[0]',
    broken: control('kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 int32_false_true: [ 0, 1 ]'),
    fixed: control('kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64'),
  },
  {
    rule: 'correlation-id-type',
    says: 'unexpected data type for control',
    at: 'sequence_batching.control_input[0].control[0].data_type',
    broken: control('kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_FP32'),
    fixed: control('kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_STRING'),
  },
  {
    rule: 'control-is-input',
    says: 'is also listed as input',
    at: 'sequence_batching.control_input[0].name',
    broken: sequence('control_input { name: "x" }'),
    fixed: sequence('control_input { name: "z" }'),
  },
  // Implicit state
  {
    rule: 'state-names',
    says: "must specify 'output_name'",
    at: 'sequence_batching.state[0]',
    broken: state('input_name: "i" data_type: TYPE_FP32 dims: [ 1 ]'),
    fixed: state(STATE),
  },
  {
    rule: 'repeated-state-name',
    says: "'i' is given to two states",
    at: 'sequence_batching.state[1].input_name',
    broken: sequence(`state [ { ${STATE} }, { input_name: "i" output_name: "p" data_type: TYPE_FP32 dims: [ 1 ] } ]`),
    fixed: sequence(`state [ { ${STATE} }, { input_name: "j" output_name: "p" data_type: TYPE_FP32 dims: [ 1 ] } ]`),
  },
  {
    rule: 'state-type',
    says: "must specify 'data_type'",
    at: 'sequence_batching.state[0]',
    broken: state('input_name: "i" output_name: "o" dims: [ 1 ]'),
    fixed: state(STATE),
  },
  {
    rule: 'state-dims',
    says: 'dimension must be integer >= 1, or -1',
    at: 'sequence_batching.state[0].dims',
    broken: state('input_name: "i" output_name: "o" data_type: TYPE_FP32 dims: [ 0 ]'),
    fixed: state(STATE),
  },
  {
    rule: 'initial-state-count',
    says: 'at most one is allowed',
    at: 'sequence_batching.state[0].initial_state[1]',
    broken: state(STATE, `${ZEROS}, ${ZEROS}`),
    fixed: state(STATE, ZEROS),
  },
  {
    rule: 'initial-state-name',
    says: "must specify 'name'",
    at: 'sequence_batching.state[0].initial_state[0]',
    broken: state(STATE, ZEROS.replace('name: "zero"', '')),
    fixed: state(STATE, ZEROS),
  },
  {
    rule: 'initial-state-type',
    says: "must have the data type of its state 'i', TYPE_FP32, got TYPE_INT32",
    at: 'sequence_batching.state[0].initial_state[0].data_type',
    broken: state(STATE, ZEROS.replace('TYPE_FP32', 'TYPE_INT32')),
    fixed: state(STATE, ZEROS),
  },
  {
    rule: 'initial-state-dims',
    says: 'must have fixed dims that fit its state',
    at: 'sequence_batching.state[0].initial_state[0].dims',
    broken: state(STATE, ZEROS.replace('1, 2', '2, 2')),
    fixed: state(STATE, ZEROS),
  },
  {
    rule: 'initial-state-data',
    says: 'has no data',
    at: 'sequence_batching.state[0].initial_state[0]',
    broken: state(STATE, ZEROS.replace('zero_data: true', '')),
    fixed: state(STATE, ZEROS.replace('zero_data: true', 'data_file: "zero"')),
  },
  {
    rule: 'growable-memory',
    says: "needs 'use_same_buffer_for_input_output: true'",
    at: 'sequence_batching.state[0].use_growable_memory',
    broken: state(`${STATE} use_growable_memory: true`),
    fixed: state(`${STATE} use_growable_memory: true use_same_buffer_for_input_output: true`),
  },
  // Response cache
  {
    rule: 'cached-sequence',
    says: 'Response Cache does not currently support model m',
    at: 'response_cache',
    broken: sequence('} response_cache { enable: true'),
    fixed: dynamic('} response_cache { enable: true'),
  },
  {
    rule: 'cached-decoupled',
    says: "with 'decoupled' transaction policy",
    at: 'response_cache',
    broken: base('response_cache { enable: true } model_transaction_policy { decoupled: true }'),
    fixed: base('response_cache { enable: false } model_transaction_policy { decoupled: true }'),
  },
  // Ensembles
  {
    rule: 'ensemble-platform',
    says: 'ensemble scheduling cannot be set for model',
    at: 'ensemble_scheduling',
    broken: base(`ensemble_scheduling { step [ ${CHAIN.join(', ')} ] }`),
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'ensemble-scheduling-missing',
    says: 'ensemble scheduling must be set for ensemble',
    at: 'platform',
    broken: `platform: "ensemble" ${X} ${Y}`,
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'ensemble-instance-group',
    says: 'instance group should not be specified for ensemble',
    at: 'instance_group',
    broken: ensemble(CHAIN, 'instance_group [ { kind: KIND_CPU count: 1 } ]'),
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'ensemble-optimization',
    says: 'optimization should not be specified for ensemble',
    at: 'optimization',
    broken: ensemble(CHAIN, 'optimization { }'),
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'ensemble-warmup',
    says: 'model_warmup can not be specified for ensemble',
    at: 'model_warmup',
    broken: ensemble(CHAIN, 'model_warmup [ { batch_size: 1 } ]'),
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'step-missing',
    says: "must specify 'step' for ensemble",
    at: 'ensemble_scheduling',
    broken: ensemble([]),
    fixed: ensemble(CHAIN),
  },
  ...(['model_name', 'input_map', 'output_map'] as const).map((field, i): RuleCase => {
    const parts = ['b', 'in=t', 'out=y'].map((part, j) => (i === j ? '' : part));
    return {
      rule: 'step-field',
      says: `must specify '${field}' in step 1 of ensemble`,
      at: 'ensemble_scheduling.step[1]',
      broken: ensemble([step('a', 'in=x', 'out=t'), step(parts[0] ?? '', parts[1] ?? '', parts[2] ?? '')]),
      fixed: ensemble(CHAIN),
    };
  }),
  {
    rule: 'tensor-written-twice',
    says: 'can appear in an output map only once',
    at: 'ensemble_scheduling.step[1].output_map["more"]',
    broken: ensemble([step('a', 'in=x', 'out=t'), step('b', 'in=t', 'out=y more=t')]),
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'tensor-written-twice',
    says: 'is an input of the ensemble',
    at: 'ensemble_scheduling.step[0].output_map["more"]',
    broken: ensemble([step('a', 'in=x', 'out=y more=x')]),
    fixed: ensemble([step('a', 'in=x', 'out=y')]),
  },
  {
    rule: 'ensemble-input-unused',
    says: "ensemble input 'x' for ensemble 'm' is not used",
    at: 'input[0]',
    broken: ensemble([step('a', 'in=u', 'out=y')]),
    fixed: ensemble([step('a', 'in=x', 'out=y')]),
  },
  {
    rule: 'ensemble-output-not-written',
    says: "ensemble output 'y' for ensemble 'm' is not used",
    at: 'output[0]',
    broken: ensemble([step('a', 'in=x', 'out=z')]),
    fixed: ensemble([step('a', 'in=x', 'out=y')]),
  },
  {
    rule: 'ensemble-output-not-written',
    says: "output 'y' for ensemble 'm' is not written: at least one of its depending tensors, 'u', is not connected",
    at: 'output[0]',
    broken: ensemble([step('a', 'in=x more=u', 'out=t'), step('b', 'in=t', 'out=y')]),
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'ensemble-output-not-written',
    says: "output 'y' for ensemble 'm' is not written: its steps wait for each other",
    at: 'output[0]',
    broken: ensemble([step('a', 'in=x back=v', 'out=t'), step('b', 'in=t', 'out=y back=v')]),
    fixed: ensemble(CHAIN),
  },
  {
    rule: 'ensemble-tensor-unused',
    says: "ensemble tensor 'rest' is unused in ensemble",
    at: 'ensemble_scheduling',
    broken: ensemble([step('a', 'in=x', 'out=t more=rest'), step('b', 'in=t', 'out=y')]),
    fixed: ensemble(CHAIN),
  },
  // Model metrics
  {
    rule: 'metric-identifier',
    says: "must specify 'metric_identifier'",
    at: 'model_metrics.metric_control[0]',
    broken: metric('histogram_options { buckets: [ 1, 2 ] }'),
    fixed: metric(`${FAMILY} histogram_options { buckets: [ 1, 2 ] }`),
  },
  {
    rule: 'metric-identifier',
    says: "must specify non-empty 'family'",
    at: 'model_metrics.metric_control[0].metric_identifier',
    broken: metric('metric_identifier { } histogram_options { buckets: [ 1, 2 ] }'),
    fixed: metric(`${FAMILY} histogram_options { buckets: [ 1, 2 ] }`),
  },
  {
    rule: 'histogram-buckets',
    says: "must specify 'histogram_options'",
    at: 'model_metrics.metric_control[0]',
    broken: metric(FAMILY),
    fixed: metric(`${FAMILY} histogram_options { buckets: 1 }`),
  },
  {
    rule: 'histogram-buckets',
    says: "must specify non-empty 'buckets'",
    at: 'model_metrics.metric_control[0].histogram_options',
    broken: metric(`${FAMILY} histogram_options { }`),
    fixed: metric(`${FAMILY} histogram_options { buckets: 1 }`),
  },
  {
    rule: 'bucket-order',
    says: 'must ascend',
    at: 'model_metrics.metric_control[0].histogram_options.buckets',
    broken: metric(`${FAMILY} histogram_options { buckets: [ 1, 1 ] }`),
    fixed: metric(`${FAMILY} histogram_options { buckets: [ 1, 2.5 ] }`),
  },
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
  // Inputs and outputs
  {
    rule: 'tensor-name',
    says: "model input must specify 'name' for m",
    at: 'input[0]',
    broken: input('data_type: TYPE_FP32 dims: [ 3 ]'),
    fixed: input('name: "x" data_type: TYPE_FP32 dims: [ 3 ]'),
  },
  {
    rule: 'tensor-data-type',
    says: "model input 'x' must specify 'data_type' for m",
    at: 'input[0]',
    broken: input('name: "x" dims: [ 3 ]'),
    fixed: input('name: "x" data_type: TYPE_BF16 dims: [ 3 ]'),
  },
  {
    rule: 'tensor-data-type',
    says: "model output 'y' must specify 'data_type' for m",
    at: 'output[0]',
    broken: `${TORCH} ${X} output [ { name: "y" data_type: TYPE_INVALID dims: [ 3 ] } ]`,
    fixed: `${TORCH} ${X} output [ { name: "y" data_type: 12 dims: [ 3 ] } ]`,
  },
  {
    rule: 'tensor-dims',
    says: "model input 'x' must specify 'dims' for m",
    at: 'input[0]',
    broken: inputOf(TORCH, ''),
    fixed: inputOf(TORCH, 'dims: 3'),
  },
  ...(['0', '-2'] as const).map(
    (dim): RuleCase => ({
      rule: 'tensor-dimension',
      says: "model input 'x' dimension must be integer >= 1, or -1",
      at: 'input[0].dims[1]',
      broken: inputOf(TORCH, `dims: [ 3, ${dim} ]`),
      fixed: inputOf(TORCH, 'dims: [ 3, -1 ]'),
    }),
  ),
  {
    rule: 'reshape-dimension',
    says: 'reshape dimensions must be integer >= 1, or -1',
    at: 'input[0].reshape.shape[0]',
    broken: reshape('3', '0'),
    fixed: reshape('3', '3'),
  },
  {
    rule: 'empty-reshape',
    says: 'cannot have empty reshape for non-batching model',
    at: 'input[0].reshape',
    broken: `${TORCH} ${Y} input [ { name: "x" data_type: TYPE_FP32 dims: [ 1 ] reshape { } } ]`,
    fixed: `${TORCH} ${Y} input [ { name: "x" data_type: TYPE_FP32 dims: [ 1 ] reshape { } } ] max_batch_size: 1`,
  },
  {
    rule: 'reshape-size',
    says: 'has different size for dims and reshape',
    at: 'input[0].reshape',
    broken: reshape('2, 3', '5'),
    fixed: reshape('2, 3', '6, 1'),
  },
  {
    rule: 'reshape-size',
    says: 'has different size for dims and reshape',
    at: 'input[0].reshape',
    broken: reshape('2', ''),
    fixed: reshape('1, 1', ''),
  },
  {
    rule: 'reshape-size',
    says: 'has different size for dims and reshape',
    at: 'input[0].reshape',
    broken: reshape('2, -1, 4', '-1, 8'),
    fixed: reshape('3, 2, -1, 5', '6, -1, 5, 1'),
  },
  {
    rule: 'reshape-size',
    says: 'has different size for dims and reshape',
    at: 'input[0].reshape',
    broken: reshape('-1', '4'),
    fixed: reshape('-1', '-1, 1'),
  },
  {
    rule: 'reshape-size',
    says: 'has different number of variable-size dimensions',
    at: 'input[0].reshape',
    broken: reshape('-1, 2', '-1, -1, 2'),
    fixed: reshape('-1, -1, 2', '-1, -1, 2'),
  },
  {
    rule: 'image-format',
    says: 'NHWC/NCHW require 3 dims',
    at: 'input[0].format',
    broken: inputOf(TORCH, 'format: FORMAT_NCHW dims: [ 1, 3, 8, 8 ]'),
    fixed: inputOf(TORCH, 'format: FORMAT_NCHW dims: [ 3, 8, 8 ]'),
  },
  {
    rule: 'shape-tensor',
    says: 'shape tensors are only supported',
    at: 'input[0].is_shape_tensor',
    broken: inputOf(TORCH, 'dims: [ 3 ] is_shape_tensor: true'),
    fixed: inputOf('platform: "tensorrt_plan"', 'dims: [ 3 ] is_shape_tensor: true'),
    backends: ['tensorrt'],
  },
  {
    rule: 'non-linear-format',
    says: 'Non-linear IO format is only supported',
    at: 'input[0].is_non_linear_format_io',
    broken: inputOf(TORCH, 'dims: [ 3, 1, 1 ] is_non_linear_format_io: true'),
    fixed: inputOf('platform: "tensorrt_plan"', 'dims: [ 3, 1, 1 ] is_non_linear_format_io: true'),
    backends: ['tensorrt'],
  },
  {
    rule: 'non-linear-format',
    says: 'Non-linear IO format requires 3 dims',
    at: 'input[0].is_non_linear_format_io',
    broken: inputOf('platform: "tensorrt_plan"', 'dims: [ 3 ] is_non_linear_format_io: true'),
    fixed: inputOf('platform: "tensorrt_plan"', 'dims: [ 3, 1, 1 ] is_non_linear_format_io: true'),
    backends: ['tensorrt'],
  },
  {
    rule: 'repeated-tensor-name',
    says: "model output 'y' is declared twice",
    at: 'output[1].name',
    broken: base(Y),
    fixed: base(Y.replace('"y"', '"z"')),
  },
  {
    rule: 'output-missing',
    says: 'must contain at least one output',
    at: 'output',
    broken: `${TORCH} ${X}`,
    fixed: `${TORCH} ${X} ${Y}`,
  },
  // Batch inputs and outputs
  {
    rule: 'batch-input-source',
    says: 'expects 1 source input, got 2',
    at: 'batch_input[0].source_input',
    broken: batchInput('kind: BATCH_ITEM_SHAPE data_type: TYPE_INT32 source_input: [ "x", "x" ]'),
    fixed: batchInput('kind: BATCH_ITEM_SHAPE data_type: TYPE_INT32 source_input: "x"'),
  },
  {
    rule: 'batch-input-type',
    says: 'must be TYPE_INT32 or TYPE_FP32',
    at: 'batch_input[0].data_type',
    broken: batchInput('data_type: TYPE_INT64 source_input: "x"'),
    fixed: batchInput('data_type: TYPE_FP32 source_input: "x"'),
  },
  {
    rule: 'unknown-source-input',
    says: "unknown source input name 'z'",
    at: 'batch_input[0].source_input[0]',
    broken: batchInput('data_type: TYPE_FP32 source_input: "z"'),
    fixed: batchInput('data_type: TYPE_FP32 source_input: "x"'),
  },
  {
    rule: 'batch-input-target',
    says: "batch input target 'x' of m is also listed as input",
    at: 'batch_input[0].target_name[1]',
    broken: batchInput('target_name: "x" data_type: TYPE_FP32 source_input: "x"'),
    fixed: batchInput('target_name: "c" data_type: TYPE_FP32 source_input: "x"'),
  },
  {
    rule: 'batch-input-target',
    says: 'it names no target input',
    at: 'batch_input[0].target_name',
    broken: base('batch_input [ { data_type: TYPE_FP32 source_input: "x" } ]'),
    fixed: batchInput('data_type: TYPE_FP32 source_input: "x"'),
  },
  {
    rule: 'batch-output-source',
    says: 'expects 1 source input, got 0',
    at: 'batch_output[0].source_input',
    broken: batchOutput('target_name: "y"'),
    fixed: batchOutput('target_name: "y" source_input: "x"'),
  },
  {
    rule: 'unknown-source-input',
    says: "unknown source input name 'z' in batch_output",
    at: 'batch_output[0].source_input[0]',
    broken: batchOutput('target_name: "y" source_input: "z"'),
    fixed: batchOutput('target_name: "y" source_input: "x"'),
  },
  {
    rule: 'unknown-target-output',
    says: "unknown target output name 'x'",
    at: 'batch_output[0].target_name[0]',
    broken: batchOutput('target_name: "x" source_input: "x"'),
    fixed: batchOutput('target_name: "y" source_input: "x"'),
  },
  {
    rule: 'repeated-target-output',
    says: "'y' can only be specified once",
    at: 'batch_output[0].target_name[1]',
    broken: batchOutput('target_name: [ "y", "y" ] source_input: "x"'),
    fixed: batchOutput('target_name: [ "y" ] source_input: "x"'),
  },
];
