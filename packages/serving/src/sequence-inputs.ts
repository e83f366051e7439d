import type { DataType, ModelConfig, ModelInput, ModelSequenceBatchingControl } from '@nereid/model-config';

/**
 * The configuration as warmup samples see it: controls and states of sequences are inputs that a sample may bring, since no scheduler adds them. The same
 * object for a model without sequences.
 */
export function withSequenceInputs(config: ModelConfig): ModelConfig {
  const { sequenceBatching, input } = config;
  if (sequenceBatching === undefined) return config;
  const controls = sequenceBatching.controlInput.flatMap(({ name, control: [control] }) =>
    control === undefined ? [] : [newInput({ name, dataType: typeOf(control), dims: [1] })],
  );
  const states = sequenceBatching.state.map(({ inputName, dataType, dims }) =>
    newInput({ name: inputName, dataType, dims }),
  );
  const declared = new Set(input.map(({ name }) => name));
  const added = [...controls, ...states].filter(({ name }) => !declared.has(name));
  return { ...config, input: [...input, ...added] };
}

function newInput(tensor: Pick<ModelInput, 'name' | 'dataType' | 'dims'>): ModelInput {
  const absent = { isShapeTensor: false, allowRaggedBatch: false, isNonLinearFormatIo: false };
  return { format: 'FORMAT_NONE', optional: true, ...absent, ...tensor };
}

function typeOf({ kind, dataType, int32FalseTrue, fp32FalseTrue }: ModelSequenceBatchingControl): DataType {
  if (kind === 'CONTROL_SEQUENCE_CORRID') return dataType;
  if (int32FalseTrue.length > 0) return 'TYPE_INT32';
  return fp32FalseTrue.length > 0 ? 'TYPE_FP32' : 'TYPE_BOOL';
}
