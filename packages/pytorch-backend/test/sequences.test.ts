import { tensor, valuesOf } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { cell, intCell, loadSequences, runStep, stateConfig, TestSequence } from './sequence-model.ts';
import { inputsAndOutputs, type ServedModel } from './served-model.ts';

const FP32_FLAGS = { fp32FalseTrue: [0, 1] };

const SUM = {
  ...inputsAndOutputs(['INPUT__0 FP32 1'], ['OUTPUT__0 FP32 1']),
  sequenceBatching: {
    controlInput: [
      { name: 'START__2', control: [{ kind: 'CONTROL_SEQUENCE_START' as const, ...FP32_FLAGS }] },
      { name: 'READY__3', control: [{ kind: 'CONTROL_SEQUENCE_READY' as const, ...FP32_FLAGS }] },
    ],
    state: [stateConfig({ inputName: 'INPUT_STATE__1', outputName: 'OUTPUT_STATE__1' })],
  },
};

const PLAIN = (state = stateConfig({ inputName: 'STATE__1', outputName: 'NEXT__1' })) => ({
  ...inputsAndOutputs(['INPUT__0 FP32 1'], ['OUTPUT__0 FP32 1']),
  sequenceBatching: { state: [state] },
});

const x = (value: number) => [cell('INPUT__0', value)];

function started(isStart: boolean, isReady = true) {
  return [cell('START__2', isStart ? 1 : 0), cell('READY__3', isReady ? 1 : 0)];
}

describe('a state', () => {
  it('is kept from request to request, apart for each sequence of a batch', async () => {
    await using served = await loadSequences('sequences_torchscript/plain.pt', PLAIN());
    const [a, b] = [new TestSequence(served), new TestSequence(served)];
    const step = (first: number, second: number) =>
      runStep(served, 'OUTPUT__0', [a.step({ inputs: x(first) }), b.step({ inputs: x(second) })]);
    expect(await step(1, 10)).toEqual([[1], [10]]);
    expect(await step(2, 20)).toEqual([[3], [30]]);
    expect(await step(3, 30)).toEqual([[6], [60]]);
    expect(await runStep(served, 'OUTPUT__0', [b.step({ inputs: x(1) })])).toEqual([[61]]);
    expect(await runStep(served, 'OUTPUT__0', [b.step({ inputs: x(1) }), a.step({ inputs: x(1) })])).toEqual([
      [62],
      [7],
    ]);
  });

  it('is the same whatever runs beside it', async () => {
    await using served = await loadSequences('sequences_torchscript/sum.pt', SUM);
    const request = (sequence: TestSequence, { of, step }: { readonly of: number; readonly step: number }) =>
      sequence.step({ inputs: x((step + 1) * (of + 1)), controls: started(step === 0) });
    const alone: number[][] = [[], [], []];
    const together: number[][] = [[], [], []];
    const singles = alone.map(() => new TestSequence(served));
    const joined = alone.map(() => new TestSequence(served));
    for (let step = 0; step < 4; step++) {
      const results = await runStep(
        served,
        'OUTPUT__0',
        joined.map((sequence, of) => request(sequence, { of, step })),
      );
      for (const [of, sequence] of singles.entries()) {
        const [single] = await runStep(served, 'OUTPUT__0', [request(sequence, { of, step })]);
        alone[of]?.push(Number(single?.[0]));
        together[of]?.push(Number(results[of]?.[0]));
      }
    }
    expect(together).toEqual(alone);
    expect(alone[1]).toEqual([2, 6, 12, 20]);
  });

  it('starts from zeros, and again when the sequence starts anew', async () => {
    await using served = await loadSequences('sequences_torchscript/plain.pt', PLAIN());
    for (let i = 0; i < 2; i++) {
      const sequence = new TestSequence(served);
      expect(await runStep(served, 'OUTPUT__0', [sequence.step({ inputs: x(5) })])).toEqual([[5]]);
      expect(await runStep(served, 'OUTPUT__0', [sequence.step({ inputs: x(5) })])).toEqual([[10]]);
      sequence.state.release();
    }
  });

  it('reaches no other sequence when it is NaN', async () => {
    await using served = await loadSequences('sequences_torchscript/plain.pt', PLAIN());
    const sequences = Array.from({ length: 8 }, () => new TestSequence(served));
    for (let step = 1; step <= 3; step++) {
      const inputs = (i: number) => x(i === 3 ? Number.NaN : i);
      const results = await runStep(
        served,
        'OUTPUT__0',
        sequences.map((sequence, i) => sequence.step({ inputs: inputs(i) })),
      );
      expect(results).toEqual(sequences.map((_, i) => [i === 3 ? Number.NaN : i * step]));
    }
  });

  it('stays as it was when a run fails, at the first request and later', async () => {
    await using served = await loadSequences('sequences_torchscript/plain.pt', PLAIN());
    const [a, b] = [new TestSequence(served), new TestSequence(served)];
    const fail = async () => {
      const requests = [a.step({ inputs: x(-1) }), b.step({ inputs: x(100) })];
      await served.instance().execute(requests);
      for (const request of requests) expect((await served.responder.finalOf(request)).error?.code).toBe('INTERNAL');
    };
    const step = () => runStep(served, 'OUTPUT__0', [a.step({ inputs: x(1) }), b.step({ inputs: x(2) })]);
    await fail();
    expect(a.state.held).toBeUndefined();
    expect(await step()).toEqual([[1], [2]]);
    await fail();
    expect(await step()).toEqual([[2], [4]]);
  });

  it('is left alone by padding, which starts from the initial value each time', async () => {
    await using served = await loadSequences('sequences_torchscript/sum.pt', SUM);
    const sequence = new TestSequence(served);
    for (let step = 1; step <= 3; step++) {
      const padding = new TestSequence(served, { isPadding: true });
      const requests = [
        sequence.step({ inputs: x(1), controls: started(step === 1) }),
        padding.step({ inputs: x(1), controls: started(false, false) }),
      ];
      expect(await runStep(served, 'OUTPUT__0', requests)).toEqual([[step], [0]]);
      expect(padding.state.held).toBeUndefined();
    }
  });

  it('is returned only if it is listed under output too', async () => {
    await using hidden = await loadSequences('sequences_torchscript/sum.pt', SUM);
    const first = new TestSequence(hidden).step({ inputs: x(1), controls: started(true) });
    expect([...((await hidden.run(first))[0]?.keys() ?? [])]).toEqual(['OUTPUT__0']);
    const outputs = inputsAndOutputs(['INPUT__0 FP32 1'], ['OUTPUT__0 FP32 1', 'OUTPUT_STATE__1 FP32 1']);
    await using shown = await loadSequences('sequences_torchscript/sum.pt', { ...SUM, ...outputs });
    const sequence = new TestSequence(shown);
    const step = () => runStep(shown, 'OUTPUT_STATE__1', [sequence.step({ inputs: x(4), controls: started(false) })]);
    expect([await step(), await step()]).toEqual([[[4]], [[8]]]);
  });

  it('is paired by configuration, in whatever order names sort', async () => {
    await using served = await loadSequences('sequences_torchscript/two_states.pt', {
      ...inputsAndOutputs(['INPUT__0 FP32 1'], ['LAST__0 FP32 1', 'COUNT__1 FP32 1']),
      sequenceBatching: {
        state: [
          stateConfig({ inputName: 'A__2', outputName: 'Z__3' }),
          stateConfig({ inputName: 'B__1', outputName: 'Y__2' }),
        ],
      },
    });
    const sequence = new TestSequence(served);
    for (const [value, last, count] of [
      [7, 0, 0],
      [9, 7, 1],
      [11, 9, 2],
    ] as const) {
      const [outputs] = await served.run(sequence.step({ inputs: x(value) }));
      expect([...(outputs?.values() ?? [])].map(valuesOf)).toEqual([[last], [count]]);
    }
  });

  it('may change a variable dimension; sequences whose shapes differ run apart', async () => {
    await using served = await loadSequences('sequences_torchscript/grow.pt', {
      ...inputsAndOutputs(['INPUT__0 FP32 1'], ['OUTPUT__0 FP32 1']),
      sequenceBatching: { state: [stateConfig({ inputName: 'SEEN__1', outputName: 'SEEN__1', dims: [-1] })] },
    });
    const [a, b, c] = [new TestSequence(served), new TestSequence(served), new TestSequence(served)];
    expect(await runStep(served, 'OUTPUT__0', [a.step({ inputs: x(1) })])).toEqual([[1]]);
    for (const sums of [
      [3, 3, 2],
      [5, 6, 4],
      [7, 9, 6],
    ]) {
      const requests = [a, b, c].map((sequence, i) => sequence.step({ inputs: x([2, 3, 2][i] ?? 0) }));
      expect(await runStep(served, 'OUTPUT__0', requests)).toEqual(sums.map((sum) => [sum]));
    }
    // Twice the one that began earlier and the other two together, which are as long as each other.
    expect(served.reports.map(({ batchSize }) => batchSize)).toEqual([1, 1, 2, 1, 2, 1, 2]);
  });

  it('of strings is kept by a module', async () => {
    const state = stateConfig({ inputName: 'BEFORE__1', outputName: 'NOW__1', dataType: 'TYPE_STRING' });
    await using batching = await loadSequences('sequences_torchscript/remember.pt', {
      input: [{ name: 'WORDS__0', dataType: 'TYPE_STRING', dims: [1], reshape: { shape: [] } }],
      output: [{ name: 'OUT__0', dataType: 'TYPE_STRING', dims: [1], reshape: { shape: [] } }],
      sequenceBatching: { state: [state] },
    });
    const word = (value: string) => [tensor({ name: 'WORDS__0', datatype: 'BYTES', shape: [1, 1], values: [value] })];
    const [a, b] = [new TestSequence(batching), new TestSequence(batching)];
    const step = (one: string, two: string) =>
      runStep(batching, 'OUT__0', [a.step({ inputs: word(one) }), b.step({ inputs: word(two) })]);
    expect(await step('a\0b', 'long '.repeat(2000))).toEqual([[''], ['']]);
    expect(await step('c', 'd')).toEqual([['a\0b'], ['long '.repeat(2000)]]);

    await using single = await loadSequences('sequences_torchscript/remember.pt', {
      ...inputsAndOutputs(['WORDS__0 BYTES -1'], ['OUT__0 BYTES -1']),
      maxBatchSize: 0,
      sequenceBatching: { state: [{ ...state, dims: [-1] }] },
    });
    const sequence = new TestSequence(single);
    const words = (...values: string[]) => [tensor({ name: 'WORDS__0', datatype: 'BYTES', values })];
    expect(await runStep(single, 'OUT__0', [sequence.step({ inputs: words('x', 'y', 'z') })])).toEqual([['']]);
    expect(await runStep(single, 'OUT__0', [sequence.step({ inputs: words('w') })])).toEqual([['x', 'y', 'z']]);
  });

  it('of a model without batches is whole', async () => {
    await using served = await loadSequences('sequences_torchscript/plain.pt', { ...PLAIN(), maxBatchSize: 0 });
    const sequence = new TestSequence(served);
    const step = () => served.run(sequence.step({ inputs: [tensor({ name: 'INPUT__0', values: [2] })] }));
    expect((await step())[0]?.get('OUTPUT__0')).toMatchObject({ shape: [1] });
    const [outputs] = await step();
    const output = outputs?.get('OUTPUT__0');
    expect(output && valuesOf(output)).toEqual([4]);
  });

  it('goes through a dictionary of arguments by its keys', async () => {
    await using served = await loadSequences('sequences_torchscript/by_key.pt', {
      ...inputsAndOutputs(['x FP32 1'], ['y FP32 1']),
      sequenceBatching: {
        controlInput: [{ name: 'start', control: [{ kind: 'CONTROL_SEQUENCE_START', ...FP32_FLAGS }] }],
        state: [stateConfig({ inputName: 'sum', outputName: 'next' })],
      },
    });
    const sequence = new TestSequence(served);
    const step = (isStart: boolean) =>
      runStep(served, 'y', [sequence.step({ inputs: [cell('x', 3)], controls: [cell('start', isStart ? 1 : 0)] })]);
    expect([await step(true), await step(false), await step(true)]).toEqual([[[3]], [[6]], [[3]]]);
  });
});

describe('a state that is not as configured', () => {
  const load = (name: string) =>
    loadSequences('sequences_torchscript/wrong_state.pt', {
      ...inputsAndOutputs(['INPUT__0 FP32 1'], ['OUTPUT__0 FP32 1']),
      sequenceBatching: { state: [stateConfig({ inputName: 'STATE__1', outputName: name })] },
    });

  it.each([
    ['NEXT__1', "configuration expects datatype TYPE_FP32 for output 'NEXT__1', model provides TYPE_INT32"],
    ['NEXT__2', "failed to split the output tensor 'NEXT__2'"],
  ])('fails the batch and keeps nothing: %s', async (name, text) => {
    await using served: ServedModel = await load(name);
    const sequence = new TestSequence(served);
    const request = sequence.step({ inputs: x(1) });
    await served.instance().execute([request]);
    expect((await served.responder.finalOf(request)).error?.message).toContain(text);
    expect(sequence.state.held).toBeUndefined();
  });
});

describe('memory that a state shares with its input', () => {
  const load = (useSameBufferForInputOutput: boolean) => {
    const names = { inputName: 'STATE__1', outputName: 'NEXT__1' };
    return loadSequences(
      'sequences_torchscript/in_place.pt',
      PLAIN(stateConfig({ ...names, useSameBufferForInputOutput })),
    );
  };

  it.each([
    [true, 8],
    [false, 9],
  ])(
    'is what the model writes in place, even when it fails, only with use_same_buffer_for_input_output (%s)',
    async (shared, then) => {
      await using served = await load(shared);
      const sequence = new TestSequence(served);
      const step = (value: number) => runStep(served, 'OUTPUT__0', [sequence.step({ inputs: x(value) })]);
      expect([await step(3), await step(3)]).toEqual([[[3]], [[6]]]);
      const failing = sequence.step({ inputs: x(-1) });
      await served.instance().execute([failing]);
      expect((await served.responder.finalOf(failing)).error).toBeDefined();
      expect(await step(3)).toEqual([[then]]);
    },
  );

  it('is not that of an answer that a client still reads', async () => {
    const names = { inputName: 'STATE__1', outputName: 'OUTPUT__1' };
    const wide = 4096;
    await using served = await loadSequences('sequences_torchscript/held.pt', {
      ...inputsAndOutputs(['INPUT__0 FP32 1'], ['OUTPUT__0 FP32 1', `OUTPUT__1 FP32 ${wide}`]),
      sequenceBatching: {
        state: [stateConfig({ ...names, dims: [wide], useSameBufferForInputOutput: true })],
      },
    });
    const sequence = new TestSequence(served);
    const [first] = await served.run(sequence.step({ inputs: x(1) }));
    await served.run(sequence.step({ inputs: x(5) }));
    const output = first?.get('OUTPUT__1');
    expect(output && valuesOf(output).every((value) => value === 1)).toBe(true);
  });
});

describe('controls', () => {
  it('reach forward as ordinary inputs, in the configured datatypes', async () => {
    const flags = { int32FalseTrue: [0, 1] };
    await using served = await loadSequences('sequences_torchscript/controls.pt', {
      ...inputsAndOutputs(['INPUT__0 FP32 1'], ['OUTPUT__0 FP32 5']),
      sequenceBatching: {
        controlInput: [
          { name: 'CORRID__4', control: [{ kind: 'CONTROL_SEQUENCE_CORRID', dataType: 'TYPE_INT64' }] },
          { name: 'END__2', control: [{ kind: 'CONTROL_SEQUENCE_END', boolFalseTrue: [false, true] }] },
          { name: 'START__1', control: [{ kind: 'CONTROL_SEQUENCE_START', ...flags }] },
          { name: 'READY__3', control: [{ kind: 'CONTROL_SEQUENCE_READY', ...FP32_FLAGS }] },
        ],
      },
    });
    const step = (value: number, corrid: number) =>
      new TestSequence(served).step({
        inputs: x(value),
        controls: [
          intCell('START__1', 1),
          tensor({ name: 'END__2', datatype: 'BOOL', shape: [1, 1], values: [value === 2] }),
          cell('READY__3', 1),
          tensor({ name: 'CORRID__4', datatype: 'INT64', shape: [1, 1], values: [corrid] }),
        ],
      });
    expect(await runStep(served, 'OUTPUT__0', [step(1, 42), step(2, 43)])).toEqual([
      [1, 1, 0, 1, 42],
      [2, 1, 1, 1, 43],
    ]);
  });

  it('may be strings where forward takes a list of them', async () => {
    await using served = await loadSequences('sequences_torchscript/named.pt', {
      input: [{ name: 'INPUT__0', dataType: 'TYPE_FP32', dims: [1] }],
      output: [
        { name: 'OUTPUT__0', dataType: 'TYPE_FP32', dims: [1] },
        { name: 'ID__1', dataType: 'TYPE_STRING', dims: [1], reshape: { shape: [] } },
      ],
      sequenceBatching: {
        controlInput: [{ name: 'CORRID__1', control: [{ kind: 'CONTROL_SEQUENCE_CORRID', dataType: 'TYPE_STRING' }] }],
      },
    });
    const step = (id: string) =>
      new TestSequence(served).step({
        inputs: x(1),
        controls: [tensor({ name: 'CORRID__1', datatype: 'BYTES', shape: [1, 1], values: [id] })],
      });
    expect(await runStep(served, 'ID__1', [step('first'), step('second')])).toEqual([['first'], ['second']]);
  });

  it('come as inputs with a request that is in no sequence, such as a warmup sample', async () => {
    await using served = await loadSequences('sequences_torchscript/sum.pt', SUM);
    const outputs = await served.infer(...x(6), cell('START__2', 1), cell('READY__3', 1));
    const output = outputs.get('OUTPUT__0');
    expect(output && valuesOf(output)).toEqual([6]);
    expect((await served.failure(...x(6), cell('START__2', 1))).message).toContain("input 'READY__3' is missing");
  });

  it('are refused from a client whose sequence brings them', async () => {
    await using served = await loadSequences('sequences_torchscript/sum.pt', SUM);
    const request = new TestSequence(served).step({ inputs: [...x(6), cell('START__2', 1)], controls: started(true) });
    await served.instance().execute([request]);
    expect((await served.responder.finalOf(request)).error?.message).toContain("input 'START__2' is unknown");
  });

  it('that the scheduler did not make fail the request alone', async () => {
    await using served = await loadSequences('sequences_torchscript/sum.pt', SUM);
    const [odd, good] = [
      new TestSequence(served).step({ inputs: x(6) }),
      new TestSequence(served).step({ inputs: x(6), controls: started(true) }),
    ];
    await served.instance().execute([odd, good]);
    expect((await served.responder.finalOf(odd)).error?.message).toContain("control tensor 'START__2' did not come");
    expect((await served.responder.finalOf(good)).response).toBeDefined();
  });
});
