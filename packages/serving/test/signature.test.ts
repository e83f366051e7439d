import { type InferenceRequest, RequestSignature } from '@nereid/core';
import { addSub, FakeBackend, RecordingResponder, requestFor, type TensorInit, tensor } from '@nereid/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ADD_SUB, addSubRequest, ask, GOOD, loaded } from './fixture.ts';

/** Inputs that fit `ADD_SUB` half of the time, and else are off by a name, a datatype, a dimension or an input. */
const inputs = fc.record({
  names: fc.constantFrom(['a', 'b'], ['a', 'b'], ['a', 'c'], ['a'], ['a', 'a']),
  rows: fc.constantFrom(1, 2, 4, 5),
  width: fc.constantFrom(3, 3, 3, 2),
  datatype: fc.constantFrom('FP32', 'FP32', 'FP32', 'INT32'),
  outputs: fc.constantFrom([], [], ['sum'], ['sum', 'sum'], ['q']),
});

describe('a request with a signature', () => {
  it('is answered as one without, the first time and every later time', async () => {
    await using served = await loaded(GOOD);
    const { engine } = served;
    const answer = async (request: InferenceRequest, responder: RecordingResponder) => {
      engine.infer(request);
      const { error, response } = await responder.finalOf(request);
      return { code: error?.code, message: error?.message, outputs: response?.outputs, batchSize: request.batchSize };
    };
    await fc.assert(
      fc.asyncProperty(inputs, async ({ names, rows, width, datatype, outputs }) => {
        const values = Array.from({ length: rows * width }, (_, i) => i);
        const init = {
          modelName: 'good',
          requestedOutputs: outputs,
          inputs: names.map((name) => tensor({ name, values, shape: [rows, width], datatype } as TensorInit)),
        };
        const responder = new RecordingResponder();
        const signature = new RequestSignature();
        const plain = await answer(requestFor({ ...init, responder }), responder);
        for (let i = 0; i < 3; i++) {
          expect(await answer(requestFor({ ...init, responder, signature }), responder)).toEqual(plain);
        }
        expect(signature.acceptedBy === undefined).toBe(plain.code !== undefined);
      }),
      { seed: 5, numRuns: 60 },
    );
  });

  it('is checked once per loaded version', async () => {
    let checks = 0;
    const backend = new FakeBackend({ compute: addSub(), validate: () => void checks++ });
    const tree = { 'good/config.pbtxt': `${ADD_SUB}version_policy { all { } }`, 'good/1': null, 'good/2': null };
    await using served = await loaded(tree, { backend });
    const signature = new RequestSignature();
    for (let i = 0; i < 3; i++) await ask(served.engine, { signature, rows: 2 });
    expect([checks, signature.batchSize]).toEqual([1, 2]);
    await ask(served.engine, { signature, rows: 2, modelVersion: '1' });
    expect(checks).toBe(2);
  });

  it('is checked every time when an input is BYTES', async () => {
    const config =
      'backend: "fake"\ninput { name: "w" data_type: TYPE_STRING dims: [ 1 ] }\noutput { name: "w" data_type: TYPE_STRING dims: [ 1 ] }\n';
    await using served = await loaded({ 'good/config.pbtxt': config, 'good/1': null }, { backend: new FakeBackend() });
    const signature = new RequestSignature();
    const words = (data: Uint8Array) => [{ name: 'w', datatype: 'BYTES', shape: [1], data } as const];
    const good = Uint8Array.of(1, 0, 0, 0, 65);
    expect((await ask(served.engine, { signature, inputs: words(good) })).error).toBeUndefined();
    const cut = Uint8Array.of(2, 0, 0, 0, 65);
    expect((await ask(served.engine, { signature, inputs: words(cut) })).error?.code).toBe('INVALID_ARG');
  });

  it('keeps no unloaded model alive', async () => {
    await using served = await loaded(GOOD);
    const signature = new RequestSignature();
    await ask(served.engine, { signature });
    expect(Object.keys(signature.acceptedBy ?? { nothing: 1 })).toEqual([]);
    await served.engine.stop();
    const responder = new RecordingResponder();
    const late = addSubRequest({ signature, responder });
    served.engine.infer(late);
    expect((await responder.finalOf(late)).error?.code).toBe('UNAVAILABLE');
  });
});
