import type {
  DataType,
  ModelConfig,
  ModelSequenceBatchingControl,
  ModelSequenceBatchingControlInput,
} from '../generated/types.ts';
import { type Check, repeats } from './rule.ts';

const PATH = 'sequence_batching';
const CORRELATION_ID_TYPES: readonly DataType[] = [
  'TYPE_UINT64',
  'TYPE_INT64',
  'TYPE_UINT32',
  'TYPE_INT32',
  'TYPE_STRING',
];

const oldestPreferredSize: Check = function* ({ config, model }) {
  for (const [i, size] of (config.sequenceBatching?.oldest?.preferredBatchSize ?? []).entries()) {
    const path = `${PATH}.oldest.preferred_batch_size[${i}]`;
    const subject = 'sequence batching preferred batch size must be';
    if (size <= 0) yield { path, message: `${subject} positive for ${model}, got ${size}` };
    else if (size > config.maxBatchSize) {
      const message = `${subject} <= max batch size for ${model}, got ${size} and ${config.maxBatchSize}; raise 'max_batch_size' or leave the size out`;
      yield { path, message };
    }
  }
};

const slotUtilization: Check = function* ({ config, model }) {
  const utilization = config.sequenceBatching?.direct?.minimumSlotUtilization ?? 0;
  if (utilization >= 0 && utilization <= 1) return;
  const message = `sequence batching minimum slot utilization must be in range [0, 1] for ${model}, got ${utilization}`;
  yield { path: `${PATH}.direct.minimum_slot_utilization`, message };
};

/** Triton ignores the delay in silence. */
const unusedSlotDelay: Check = function* ({ config, model }) {
  const direct = config.sequenceBatching?.direct;
  if (!direct || direct.maxQueueDelayMicroseconds === 0n || direct.minimumSlotUtilization !== 0) return;
  const message = `'max_queue_delay_microseconds' of ${model} has no effect without 'minimum_slot_utilization'; set that, e.g. to 0.5, or remove the delay`;
  yield { severity: 'warning', path: `${PATH}.direct.max_queue_delay_microseconds`, message };
};

const controlName: Check = function* ({ config, model }) {
  for (const [i, { name }] of controlInputs(config).entries()) {
    if (name !== '') continue;
    const message = `sequence batching control tensor must have a name for ${model}; add name: "<model input>"`;
    yield { path: `${PATH}.control_input[${i}]`, message };
  }
};

const repeatedControlName: Check = function* ({ config, model }) {
  for (const [name, i] of repeats(controlInputs(config).map((input) => input.name))) {
    if (name === '') continue;
    const message = `sequence batching control tensor '${name}' is specified for multiple control kinds for ${model}; give each kind a tensor of its own`;
    yield { path: `${PATH}.control_input[${i}].name`, message };
  }
};

const repeatedControlKind: Check = function* ({ config, model }) {
  const all = controls(config);
  for (const [kind, i] of repeats(all.map(({ control }) => control.kind))) {
    const message = `sequence batching specifies multiple ${kind} tensors for ${model}; keep one`;
    yield { path: `${all[i]?.path}.kind`, message };
  }
};

const controlValues: Check = function* ({ config, model }) {
  for (const { control, input, path } of controls(config)) {
    if (control.kind === 'CONTROL_SEQUENCE_CORRID') continue;
    const subject = `sequence batching control tensor '${input.name}'`;
    const given = valueLists(control);
    const [first] = given;
    if (first === undefined) {
      const message = `${subject} must specify either 'int32_false_true', 'fp32_false_true' or 'bool_false_true' for ${control.kind} for ${model}; e.g. fp32_false_true: [ 0, 1 ]`;
      yield { path, message };
    } else if (given.length > 1) {
      const names = given.map(({ name }) => `'${name}'`).join(', ');
      const message = `${subject} specifies more than one from 'int32_false_true', 'fp32_false_true' and 'bool_false_true' for ${control.kind} for ${model}: ${names}; keep one`;
      yield { path, message };
    }
  }
};

const controlValueCount: Check = function* ({ config, model }) {
  for (const { control, input, path } of controls(config)) {
    if (control.kind === 'CONTROL_SEQUENCE_CORRID') continue;
    for (const { name, length } of valueLists(control)) {
      if (length === 2) continue;
      const message = `sequence batching control tensor '${input.name}': '${name}' must have exactly 2 entries for ${control.kind} for ${model}, got ${length}; write the value for false, then that for true`;
      yield { path: `${path}.${name}`, message };
    }
  }
};

const correlationIdValues: Check = function* ({ config, model }) {
  for (const { control, input, path } of controls(config)) {
    if (control.kind !== 'CONTROL_SEQUENCE_CORRID' || valueLists(control).length === 0) continue;
    const message = `sequence batching control tensor '${input.name}' must not specify either 'int32_false_true', 'fp32_false_true' or 'bool_false_true' for CONTROL_SEQUENCE_CORRID for ${model}; give its 'data_type' instead`;
    yield { path, message };
  }
};

const correlationIdType: Check = function* ({ config, model }) {
  for (const { control, input, path } of controls(config)) {
    if (control.kind !== 'CONTROL_SEQUENCE_CORRID' || CORRELATION_ID_TYPES.includes(control.dataType)) continue;
    const message = `unexpected data type for control tensor '${input.name}' of ${model}: ${control.dataType}; a correlation ID is one of ${CORRELATION_ID_TYPES.join(', ')}`;
    yield { path: `${path}.data_type`, message };
  }
};

/** Not checked by Triton: clients are then asked for a tensor whose content is replaced. */
const controlIsInput: Check = function* ({ config, model }) {
  const declared = new Set(config.input.map(({ name }) => name));
  for (const [i, { name }] of controlInputs(config).entries()) {
    if (!declared.has(name)) continue;
    const message = `control tensor '${name}' of ${model} is also listed as input: requests would have to send what the batcher overwrites; remove it from 'input'`;
    yield { severity: 'warning', path: `${PATH}.control_input[${i}].name`, message };
  }
};

function controlInputs(config: ModelConfig): readonly ModelSequenceBatchingControlInput[] {
  return config.sequenceBatching?.controlInput ?? [];
}

interface PlacedControl {
  readonly control: ModelSequenceBatchingControl;
  readonly input: ModelSequenceBatchingControlInput;
  readonly path: string;
}

function controls(config: ModelConfig): readonly PlacedControl[] {
  return controlInputs(config).flatMap((input, i) =>
    input.control.map((control, j) => ({ control, input, path: `${PATH}.control_input[${i}].control[${j}]` })),
  );
}

function valueLists({ int32FalseTrue, fp32FalseTrue, boolFalseTrue }: ModelSequenceBatchingControl) {
  const lists = [
    { name: 'int32_false_true', length: int32FalseTrue.length },
    { name: 'fp32_false_true', length: fp32FalseTrue.length },
    { name: 'bool_false_true', length: boolFalseTrue.length },
  ];
  return lists.filter(({ length }) => length > 0);
}

/** Rules on the sequence batcher and its control tensors. */
export const SEQUENCE_BATCHING_RULES = {
  'oldest-preferred-batch-size': oldestPreferredSize,
  'slot-utilization': slotUtilization,
  'unused-slot-delay': unusedSlotDelay,
  'control-name': controlName,
  'repeated-control-name': repeatedControlName,
  'repeated-control-kind': repeatedControlKind,
  'control-values': controlValues,
  'control-value-count': controlValueCount,
  'correlation-id-values': correlationIdValues,
  'correlation-id-type': correlationIdType,
  'control-is-input': controlIsInput,
} satisfies Record<string, Check>;
