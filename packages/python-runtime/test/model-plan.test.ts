import { createModelConfig, type Init, type ModelConfig } from '@nereid/model-config';
import { describe, expect, it } from 'vitest';
import { PythonRuntimeBackend } from '../src/index.ts';
import { planModel } from '../src/model-plan.ts';

const X = { name: 'x', dataType: 'TYPE_FP32', dims: [4] } as const;
const Y = { name: 'y', dataType: 'TYPE_FP32', dims: [4] } as const;

function plan(config: Init<ModelConfig>) {
  return planModel(createModelConfig({ input: [X], output: [Y], ...config }), { name: 'm', version: '1' });
}

describe('planModel', () => {
  it.each<{ what: string; config: Init<ModelConfig>; fault: string }>([
    {
      what: 'strings',
      config: { input: [{ ...X, dataType: 'TYPE_STRING' }] },
      fault: "input 'x' is TYPE_STRING, but torch has no tensors of strings; use TYPE_UINT8 with the encoded text",
    },
    {
      what: 'results that are strings',
      config: { output: [{ ...Y, dataType: 'TYPE_STRING' }] },
      fault: "output 'y' is TYPE_STRING, but torch has no tensors of strings; use TYPE_UINT8 with the encoded text",
    },
    {
      what: 'a tensor without datatype',
      config: { input: [{ name: 'x', dims: [4] }] },
      fault: "unsupported datatype TYPE_INVALID for input 'x'",
    },
    {
      what: 'optional inputs',
      config: { input: [{ ...X, optional: true }] },
      fault: "input 'x' is optional; forward gets every input, so give clients a neutral value to send",
    },
    {
      what: 'ragged inputs',
      config: { input: [{ ...X, allowRaggedBatch: true }] },
      fault: "input 'x' has allow_ragged_batch; requests of one batch must agree in shape",
    },
    {
      what: 'a correlation ID as a string tensor',
      config: {
        sequenceBatching: {
          controlInput: [{ name: 'id', control: [{ kind: 'CONTROL_SEQUENCE_CORRID', dataType: 'TYPE_STRING' }] }],
        },
      },
      fault:
        "control 'id' is TYPE_STRING, but torch has no tensors of strings; leave it out: forward finds the correlation ID in the keyword requests",
    },
    {
      what: 'states that are strings',
      config: {
        sequenceBatching: { state: [{ inputName: 's', outputName: 't', dataType: 'TYPE_STRING', dims: [1] }] },
      },
      fault: "state 's' is TYPE_STRING, but torch has no tensors of strings; use TYPE_UINT8 with the encoded text",
    },
    {
      what: 'states in memory that grows',
      config: {
        sequenceBatching: {
          state: [{ inputName: 's', outputName: 't', dataType: 'TYPE_FP32', dims: [-1], useGrowableMemory: true }],
        },
      },
      fault: "state 's' has use_growable_memory; remove it: a state with a dimension of -1 may grow without",
    },
    {
      what: 'batch inputs',
      config: { batchInput: [{ kind: 'BATCH_ELEMENT_COUNT' }] },
      fault: 'batch_input is not supported; make it an input that clients send',
    },
    {
      what: 'batch outputs',
      config: { batchOutput: [{}] },
      fault: 'batch_output is not supported; let forward return one row per row of its inputs',
    },
    { what: 'no output', config: { output: [] }, fault: 'it has no output; name each result of forward' },
  ])('refuses $what', ({ config, fault }) => {
    expect(() => plan(config)).toThrow(`model 'm' cannot run as model.py: ${fault}`);
  });

  it('names everything it refuses in one error', () => {
    const input = [{ ...X, optional: true, allowRaggedBatch: true }];
    expect(() => plan({ input, output: [] })).toThrow(/is optional.*; .*allow_ragged_batch.*; it has no output/);
  });
});

describe('accepts', () => {
  it.each([
    ['model.py', true],
    ['', false],
    ['libtriton_pytorch.so', false],
  ])('runtime "%s": %s', (runtime, expected) => {
    expect(new PythonRuntimeBackend().accepts(createModelConfig({ backend: 'pytorch', runtime }))).toBe(expected);
  });
});
