import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { encodeBytes } from '@nereid/core';
import type { Init, ModelConfig, ModelSequenceBatchingInitialState } from '@nereid/model-config';
import { tensor } from '@nereid/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cell, loadSequences, runStep, stateConfig, TestSequence } from './sequence-model.ts';
import { inputsAndOutputs, modelFile, type ServedModel } from './served-model.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nereid-states-'));
  await mkdir(join(directory, '1'));
  await mkdir(join(directory, 'initial_state'));
});

afterEach(() => rm(directory, { recursive: true }));

const floats = (...values: number[]) => new Uint8Array(new Float32Array(values).buffer);

/** The module in a model directory of its own, so that files can lie beside it. */
async function load(module: string, config: Init<ModelConfig>): Promise<ServedModel> {
  const file = join(directory, '1', basename(module));
  await symlink(modelFile(`sequences_torchscript/${module}`), file);
  return loadSequences(file, config);
}

function grow(initial: Init<ModelSequenceBatchingInitialState>): Init<ModelConfig> {
  const state = stateConfig({
    inputName: 'SEEN__1',
    outputName: 'SEEN__1',
    dims: [-1],
    initialState: [{ name: 'start', dataType: 'TYPE_FP32', ...initial }],
  });
  return { ...inputsAndOutputs(['INPUT__0 FP32 1'], ['OUTPUT__0 FP32 1']), sequenceBatching: { state: [state] } };
}

describe('an initial value', () => {
  it('comes from a file, for every sequence that starts', async () => {
    await writeFile(join(directory, 'initial_state', 'three'), floats(1, 2, 3));
    await using served = await load('grow.pt', grow({ dims: [3], dataFile: 'three' }));
    const step = (sequence: TestSequence) => sequence.step({ inputs: [cell('INPUT__0', 10)] });
    const sequences = [new TestSequence(served), new TestSequence(served)];
    expect(await runStep(served, 'OUTPUT__0', sequences.map(step))).toEqual([[16], [16]]);
    expect(await runStep(served, 'OUTPUT__0', [...sequences, new TestSequence(served)].map(step))).toEqual([
      [26],
      [26],
      [16],
    ]);
  });

  it('is the beginning of a file that is longer', async () => {
    await writeFile(join(directory, 'initial_state', 'long'), floats(1, 2, 3, 4));
    await using served = await load('grow.pt', grow({ dims: [2], dataFile: 'long' }));
    const sequence = new TestSequence(served);
    expect(await runStep(served, 'OUTPUT__0', [sequence.step({ inputs: [cell('INPUT__0', 0)] })])).toEqual([[3]]);
  });

  it('is zeros of its own dims with zero_data', async () => {
    await using served = await load('grow.pt', grow({ dims: [5], zeroData: true }));
    const sequence = new TestSequence(served);
    expect(await runStep(served, 'OUTPUT__0', [sequence.step({ inputs: [cell('INPUT__0', 2)] })])).toEqual([[2]]);
  });

  it('of strings is the whole file', async () => {
    await writeFile(join(directory, 'initial_state', 'words'), encodeBytes(['hello', 'there']));
    const initialState = [{ name: 'words', dataType: 'TYPE_STRING' as const, dims: [2], dataFile: 'words' }];
    await using served = await load('remember.pt', {
      ...inputsAndOutputs(['WORDS__0 BYTES -1'], ['OUT__0 BYTES -1']),
      maxBatchSize: 0,
      sequenceBatching: {
        state: [{ inputName: 'BEFORE__1', outputName: 'NOW__1', dataType: 'TYPE_STRING', dims: [-1], initialState }],
      },
    });
    const words = tensor({ name: 'WORDS__0', datatype: 'BYTES', values: ['x'] });
    const sequence = new TestSequence(served);
    expect(await runStep(served, 'OUT__0', [sequence.step({ inputs: [words] })])).toEqual([['hello', 'there']]);
    expect(await runStep(served, 'OUT__0', [sequence.step({ inputs: [words] })])).toEqual([['x']]);
  });

  it.each([
    ['short', { dims: [3], dataFile: 'short' }, /'.*short' has 8 bytes, the state needs 12/],
    ['missing', { dims: [3], dataFile: 'missing' }, /'.*missing' cannot be read: ENOENT/],
    ['outside of its directory', { dims: [3], dataFile: '../1/grow.pt' }, /'\.\.\/1\/grow\.pt' lies outside of/],
  ])('in a file that is %s fails the load', async (_, initial, text) => {
    await writeFile(join(directory, 'initial_state', 'short'), floats(1, 2));
    const loading = load('grow.pt', grow(initial));
    await expect(loading).rejects.toMatchObject({
      code: 'INVALID_ARG',
      reason: 'file',
      message: expect.stringMatching(text),
    });
  });
});
