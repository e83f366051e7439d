/** What is refused at load of a sequence model, and which names fit. */
import type { Init, ModelConfig, ModelSequenceBatchingControl } from '@nereid/model-config';
import { describe, expect, it } from 'vitest';
import { loadSequences, stateConfig } from './sequence-model.ts';
import { inputsAndOutputs } from './served-model.ts';

const corrid = (dataType: ModelSequenceBatchingControl['dataType'], name = 'CORRID__1') => ({
  name,
  control: [{ kind: 'CONTROL_SEQUENCE_CORRID' as const, dataType }],
});

const start = (name: string) => ({
  name,
  control: [{ kind: 'CONTROL_SEQUENCE_START' as const, fp32FalseTrue: [0, 1] }],
});

const NAMED = inputsAndOutputs(['INPUT__0 FP32 1'], ['OUTPUT__0 FP32 1']);

const STATE = stateConfig({ inputName: 'STATE__1', outputName: 'NEXT__1' });

async function refusal(file: string, config: Init<ModelConfig>): Promise<Error> {
  try {
    const served = await loadSequences(file, { ...NAMED, ...config });
    await served.close();
  } catch (thrown) {
    if (thrown instanceof Error) return thrown;
  }
  throw new Error('the model loaded');
}

describe('a module is refused', () => {
  it.each<[string, string, Init<ModelConfig>, string, string]>([
    [
      'with a correlation ID of a datatype that the original has not',
      'named.pt',
      { sequenceBatching: { controlInput: [corrid('TYPE_UINT32')] } },
      'INTERNAL',
      "input 'CORRID__1' type 'TYPE_UINT32' is not supported by PyTorch.",
    ],
    [
      'with a control that does not tell its position',
      'sum.pt',
      { sequenceBatching: { controlInput: [start('start'), start('READY__3')], state: [STATE] } },
      'INTERNAL',
      "control input 'start' does not follow <name>__<index> naming convention",
    ],
    [
      'with a control at a position that an input has',
      'plain.pt',
      { sequenceBatching: { controlInput: [start('START__0')] } },
      'INVALID_ARG',
      "inputs 'INPUT__0' and 'START__0' both claim position 0",
    ],
    [
      'with a control beyond the arguments of forward',
      'plain.pt',
      { sequenceBatching: { controlInput: [start('START__7')] } },
      'INVALID_ARG',
      "control 'START__7' names position 7, which forward does not have",
    ],
    [
      'with fewer tensors than forward takes',
      'sum.pt',
      { sequenceBatching: { controlInput: [start('START__2')], state: [STATE] } },
      'INVALID_ARG',
      'configuration expects 3 inputs, model provides 4',
    ],
    [
      'with a state beside inputs that do not tell their positions',
      'plain.pt',
      { ...inputsAndOutputs(['x FP32 1'], ['OUTPUT__0 FP32 1']), sequenceBatching: { state: [STATE] } },
      'INVALID_ARG',
      "these do not: input 'x'",
    ],
    [
      'with a state that does not tell its position among the inputs',
      'plain.pt',
      { sequenceBatching: { state: [stateConfig({ inputName: 'state', outputName: 'next' })] } },
      'INVALID_ARG',
      "these do not: state 'state'",
    ],
    [
      'with a state that does not tell its position among the results',
      'plain.pt',
      { sequenceBatching: { state: [stateConfig({ inputName: 'STATE__1', outputName: 'next' })] } },
      'INVALID_ARG',
      "these do not: state output 'next'",
    ],
    [
      'with an output that does not tell its position beside a state',
      'plain.pt',
      { ...inputsAndOutputs(['INPUT__0 FP32 1'], ['y FP32 1']), sequenceBatching: { state: [STATE] } },
      'INVALID_ARG',
      "these do not: output 'y'",
    ],
    [
      'with a state at a result that forward does not return',
      'plain.pt',
      { sequenceBatching: { state: [stateConfig({ inputName: 'STATE__1', outputName: 'NEXT__9' })] } },
      'INVALID_ARG',
      "NEXT__9 in the model configuration refers to an output index which doesn't exist",
    ],
    [
      'with a state of strings where forward takes a tensor',
      'plain.pt',
      { sequenceBatching: { state: [{ ...STATE, dataType: 'TYPE_STRING' }] } },
      'INVALID_ARG',
      "state 'STATE__1' is TYPE_STRING, but argument 'state' of forward is Tensor",
    ],
    [
      'with a state of strings that is no list',
      'remember.pt',
      { sequenceBatching: { state: [{ ...STATE, dataType: 'TYPE_STRING', dims: [2] }] } },
      'INTERNAL',
      'only one-dimensional lists of strings',
    ],
    [
      'with memory that grows, on a CPU',
      'plain.pt',
      { sequenceBatching: { state: [{ ...STATE, useSameBufferForInputOutput: true, useGrowableMemory: true }] } },
      'UNSUPPORTED',
      "state 'STATE__1' has use_growable_memory, which is for instances on GPUs, but 'm_0' is KIND_CPU",
    ],
  ])('%s', async (_, file, config, code, text) => {
    const error = await refusal(`sequences_torchscript/${file}`, config);
    expect(error).toMatchObject({ code, message: expect.stringContaining(text) });
  });
});

describe('a compiled package is refused', () => {
  const controls = [
    start('INPUT__2'),
    { ...start('INPUT__3'), control: [{ kind: 'CONTROL_SEQUENCE_READY' as const, fp32FalseTrue: [0, 1] }] },
  ];
  const state = stateConfig({ inputName: 'INPUT__1', outputName: 'OUTPUT__1' });

  it.each<[string, Init<ModelConfig>, string]>([
    [
      'with a correlation ID of strings',
      { sequenceBatching: { controlInput: [...controls, corrid('TYPE_STRING', 'INPUT__4')], state: [state] } },
      "unsupported datatype TYPE_STRING for control 'INPUT__4'",
    ],
    [
      'with a state of strings',
      {
        sequenceBatching: {
          controlInput: [...controls, corrid('TYPE_INT32', 'INPUT__4')],
          state: [{ ...state, dataType: 'TYPE_STRING' }],
        },
      },
      "unsupported datatype TYPE_STRING for state 'INPUT__1'",
    ],
    [
      'with a correlation ID of another datatype than it was compiled for',
      { sequenceBatching: { controlInput: [...controls, corrid('TYPE_INT64', 'INPUT__4')], state: [state] } },
      "'INPUT__4' is TYPE_INT64 in the configuration, but the package was compiled for TYPE_INT32",
    ],
    [
      'with a control and a state that are the same tensor',
      {
        sequenceBatching: {
          controlInput: [...controls, corrid('TYPE_INT32', 'ARGS[4]')],
          state: [{ ...state, inputName: 'x__4' }],
        },
      },
      "control 'ARGS[4]' and state 'x__4' are the same tensor",
    ],
    [
      'with a tensor that nobody fills',
      { sequenceBatching: { controlInput: controls, state: [state] } },
      'The model takes 5 input tensors, the configuration names 4',
    ],
  ])('%s', async (_, config, text) => {
    const error = await refusal('sequences_aoti/sum.pt2', config);
    expect(error.message).toContain(text);
  });
});
