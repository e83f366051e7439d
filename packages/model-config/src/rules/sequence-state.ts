import { formatShape, shapeMatches } from '@nereid/core';
import type { ModelConfig, ModelSequenceBatchingState } from '../generated/types.ts';
import { type Check, repeats } from './rule.ts';

const stateNames: Check = function* ({ config, model }) {
  for (const { state, path } of states(config)) {
    if (state.inputName !== '' && state.outputName !== '') continue;
    const missing = state.inputName === '' ? 'input_name' : 'output_name';
    yield {
      path,
      message: `implicit state must specify '${missing}' for ${model}: the model's tensor that carries the state`,
    };
  }
};

const repeatedStateName: Check = function* ({ config, model }) {
  for (const field of ['inputName', 'outputName'] as const) {
    const protoName = field === 'inputName' ? 'input_name' : 'output_name';
    for (const [name, i] of repeats(states(config).map(({ state }) => state[field]))) {
      if (name === '') continue;
      const message = `implicit state tensor '${name}' is given to two states of ${model}; each needs an '${protoName}' of its own`;
      yield { path: `sequence_batching.state[${i}].${protoName}`, message };
    }
  }
};

const stateType: Check = function* ({ config, model }) {
  for (const { state, path } of states(config)) {
    if (state.dataType !== 'TYPE_INVALID') continue;
    yield { path, message: `implicit state '${state.inputName}' must specify 'data_type' for ${model}` };
  }
};

const stateDims: Check = function* ({ config, model }) {
  for (const { state, path } of states(config)) {
    if (state.dims.every((dim) => dim >= 1 || dim === -1)) continue;
    const message = `implicit state '${state.inputName}': dimension must be integer >= 1, or -1 for ${model}, got ${formatShape(state.dims)}`;
    yield { path: `${path}.dims`, message };
  }
};

const initialStateCount: Check = function* ({ config, model }) {
  for (const { state, path } of states(config)) {
    if (state.initialState.length <= 1) continue;
    const message = `implicit state '${state.inputName}' of ${model} has ${state.initialState.length} initial states; at most one is allowed`;
    yield { path: `${path}.initial_state[1]`, message };
  }
};

const initialStateName: Check = function* ({ config, model }) {
  for (const { state, path } of states(config)) {
    for (const [j, initial] of state.initialState.entries()) {
      if (initial.name !== '') continue;
      const message = `initial state of '${state.inputName}' must specify 'name' for ${model}; any label will do, e.g. name: "zero"`;
      yield { path: `${path}.initial_state[${j}]`, message };
    }
  }
};

const initialStateType: Check = function* ({ config, model }) {
  for (const { state, path } of states(config)) {
    for (const [j, initial] of state.initialState.entries()) {
      if (initial.dataType === state.dataType) continue;
      const message = `initial state '${initial.name}' of ${model} must have the data type of its state '${state.inputName}', ${state.dataType}, got ${initial.dataType}`;
      yield { path: `${path}.initial_state[${j}].data_type`, message };
    }
  }
};

const initialStateDims: Check = function* ({ config, model }) {
  for (const { state, path } of states(config)) {
    for (const [j, initial] of state.initialState.entries()) {
      if (initial.dims.every((dim) => dim >= 1) && shapeMatches(state.dims, initial.dims)) continue;
      const message = `initial state '${initial.name}' of ${model} must have fixed dims that fit its state '${state.inputName}', ${formatShape(state.dims)}, got ${formatShape(initial.dims)}`;
      yield { path: `${path}.initial_state[${j}].dims`, message };
    }
  }
};

const initialStateData: Check = function* ({ config, model }) {
  for (const { state, path } of states(config)) {
    for (const [j, initial] of state.initialState.entries()) {
      if (initial.zeroData !== undefined || initial.dataFile !== undefined) continue;
      const message = `initial state '${initial.name}' of ${model} has no data; add zero_data: true, or data_file: "<file in initial_state/>"`;
      yield { path: `${path}.initial_state[${j}]`, message };
    }
  }
};

const growableMemory: Check = function* ({ config, model }) {
  for (const { state, path } of states(config)) {
    if (!state.useGrowableMemory || state.useSameBufferForInputOutput) continue;
    const message = `'use_growable_memory' of state '${state.inputName}' of ${model} needs 'use_same_buffer_for_input_output: true'`;
    yield { path: `${path}.use_growable_memory`, message };
  }
};

interface PlacedState {
  readonly state: ModelSequenceBatchingState;
  readonly path: string;
}

function states(config: ModelConfig): readonly PlacedState[] {
  return (config.sequenceBatching?.state ?? []).map((state, i) => ({ state, path: `sequence_batching.state[${i}]` }));
}

/** Rules on the implicit state of sequences. */
export const SEQUENCE_STATE_RULES = {
  'state-names': stateNames,
  'repeated-state-name': repeatedStateName,
  'state-type': stateType,
  'state-dims': stateDims,
  'initial-state-count': initialStateCount,
  'initial-state-name': initialStateName,
  'initial-state-type': initialStateType,
  'initial-state-dims': initialStateDims,
  'initial-state-data': initialStateData,
  'growable-memory': growableMemory,
} satisfies Record<string, Check>;
