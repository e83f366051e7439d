import { silentLogger, type Tensor } from '@nereid/core';
import { createModelConfig, type Init, type ModelConfig } from '@nereid/model-config';
import { testModel } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PyTorchBackend } from '../src/index.ts';
import { cell, intCell, loadSequences, runStep, stateConfig, TestSequence } from './sequence-model.ts';
import { inputsAndOutputs, type ServedModel } from './served-model.ts';

/** Names of value, state, START, READY and CORRID, then of the result and the next state. */
const NAMINGS = {
  ordinal: ['INPUT__0', 'INPUT__1', 'INPUT__2', 'INPUT__3', 'INPUT__4', 'OUTPUT__0', 'OUTPUT__1'],
  forward: ['INPUT__0', 'ARGS[1]', 'ARGS[2]', 'ARGS[3]', 'ARGS[4]', 'RESULT[0]', 'RESULT[1]'],
  descriptive: ['ARGS[0]', 'STATE__1', 'START__2', 'READY__3', 'CORRID__4', 'RESULT[0]', 'NEXT__1'],
} as const;

type Names = (typeof NAMINGS)[keyof typeof NAMINGS];

function config([x, state, start, ready, corrid, y, next]: Names): Init<ModelConfig> {
  const flags = { fp32FalseTrue: [0, 1] };
  return {
    ...inputsAndOutputs([`${x} FP32 1`], [`${y} FP32 1`]),
    sequenceBatching: {
      controlInput: [
        { name: start, control: [{ kind: 'CONTROL_SEQUENCE_START', ...flags }] },
        { name: ready, control: [{ kind: 'CONTROL_SEQUENCE_READY', ...flags }] },
        { name: corrid, control: [{ kind: 'CONTROL_SEQUENCE_CORRID', dataType: 'TYPE_INT32' }] },
      ],
      state: [stateConfig({ inputName: state, outputName: next })],
    },
  };
}

describe.each(Object.entries(NAMINGS))('a package under %s names', (_, names) => {
  let served: ServedModel;
  const [x, , start, ready, corrid, y] = names;

  beforeAll(async () => {
    served = await loadSequences('sequences_aoti/sum.pt2', config(names));
  });

  afterAll(() => served.close());

  const controls = (id: number, step: number): readonly Tensor[] => [
    cell(start, step === 0 ? 1 : 0),
    cell(ready, 1),
    intCell(corrid, id),
  ];

  it('sums up one sequence', async () => {
    const sequence = new TestSequence(served);
    const sums: unknown[] = [];
    for (const [step, value] of [2, 3, 4, 5].entries()) {
      const request = sequence.step({ inputs: [cell(x, value)], controls: controls(100, step) });
      sums.push(await runStep(served, y, [request]));
    }
    expect(sums).toEqual([[[102]], [[105]], [[109]], [[114]]]);
  });

  it('sums up eight sequences in lockstep', async () => {
    const ids = Array.from({ length: 8 }, (_, i) => 300 + i);
    const sequences = ids.map(() => new TestSequence(served));
    for (let step = 0; step < 5; step++) {
      const requests = sequences.map((sequence, i) => {
        const id = ids[i] ?? 0;
        return sequence.step({ inputs: [cell(x, (id % 7) + 1)], controls: controls(id, step) });
      });
      expect(await runStep(served, y, requests)).toEqual(ids.map((id) => [((id % 7) + 1) * (step + 1) + id]));
    }
  });

  it('sums up sequences that come and go', async () => {
    const lives = { 400: [0, 1], 401: [0, 3], 402: [2, 4], 403: [3, 4] } as const;
    const sequences = new Map(Object.keys(lives).map((id) => [Number(id), new TestSequence(served)]));
    for (let tick = 0; tick <= 4; tick++) {
      const alive = Object.entries(lives).filter(([, [first, last]]) => tick >= first && tick <= last);
      const requests = alive.flatMap(([id, [first]]) => {
        const step = sequences
          .get(Number(id))
          ?.step({ inputs: [cell(x, 1)], controls: controls(Number(id), tick - first) });
        return step === undefined ? [] : [step];
      });
      const sums = alive.map(([id, [first]]) => [Number(id) + tick - first + 1]);
      expect(await runStep(served, y, requests)).toEqual(sums);
    }
  });
});

describe('a configuration without inputs and outputs', () => {
  it('is completed with what neither controls nor states name', async () => {
    const { sequenceBatching } = config(NAMINGS.ordinal);
    const completed = await new PyTorchBackend().complete({
      name: 'm',
      version: '1',
      modelDirectory: testModel('sequences_aoti'),
      versionDirectory: testModel('sequences_aoti'),
      config: createModelConfig({
        name: 'm',
        platform: 'torch_aoti',
        defaultModelFilename: 'sum.pt2',
        maxBatchSize: 8,
        ...(sequenceBatching && { sequenceBatching }),
      }),
      isConfigured: true,
      states: () => true,
      logger: silentLogger,
    });
    expect(completed.input).toMatchObject([{ name: 'INPUT__0', dataType: 'TYPE_FP32', dims: [1] }]);
    expect(completed.output).toMatchObject([{ name: 'OUTPUT__0', dataType: 'TYPE_FP32', dims: [1] }]);
    expect(completed.dynamicBatching).toBeUndefined();
  });
});

describe('a state of a package that grows', () => {
  const load = () =>
    loadSequences('sequences_aoti/grow.pt2', {
      ...inputsAndOutputs(['INPUT__0 FP32 1'], ['OUTPUT__0 FP32 1']),
      sequenceBatching: { state: [stateConfig({ inputName: 'INPUT__1', outputName: 'OUTPUT__1', dims: [-1] })] },
    });

  it('may do so as far as it was compiled for', async () => {
    await using served = await load();
    const sequence = new TestSequence(served);
    const step = () => sequence.step({ inputs: [cell('INPUT__0', 1)] });
    for (let size = 1; size <= 8; size++) expect(await runStep(served, 'OUTPUT__0', [step()])).toEqual([[size]]);
    const beyond = step();
    await served.instance().execute([beyond]);
    const { error } = await served.responder.finalOf(beyond);
    expect(error).toMatchObject({ code: 'INVALID_ARG' });
    expect(error?.message).toMatch(/state 'INPUT__1' has shape \[1,9\]; the model file was compiled for \[1..8,1..8\]/);
  });
});
