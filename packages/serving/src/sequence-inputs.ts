import { controlDataType, type ModelConfig, type ModelInput } from '@nereid/model-config';

/**
 * The configuration as warmup samples see it: controls and states of sequences are inputs that a sample may bring, since no scheduler adds them. The same
 * object for a model without sequences.
 */
export function withSequenceInputs(config: ModelConfig): ModelConfig {
  const { sequenceBatching, input } = config;
  if (sequenceBatching === undefined) return config;
  const controls = sequenceBatching.controlInput.flatMap(({ name, control: [control] }) =>
    control === undefined ? [] : [newInput({ name, dataType: controlDataType(control), dims: [1] })],
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
