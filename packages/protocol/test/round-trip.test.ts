import { type Datatype, encodeBytes, InferenceServerError, type Tensor } from '@nereid/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeInferResponse, encodeInferRequest, RequestDecoder, ResponseFormat } from '../src/index.ts';

const target = { modelName: 'm', modelVersion: '3' };
const decoder = new RequestDecoder();

const contents: Partial<Record<Datatype, fc.Arbitrary<{ shape: number[]; data: Uint8Array }>>> = {
  FP32: fc
    .float32Array({ noNaN: true })
    .map((view) => ({ shape: [1, view.length], data: new Uint8Array(view.buffer) })),
  INT64: fc.bigInt64Array().map((view) => ({ shape: [view.length], data: new Uint8Array(view.buffer) })),
  BOOL: fc.uint8Array({ max: 1 }).map((view) => ({ shape: [view.length, 1], data: view })),
  BYTES: fc
    .array(fc.string({ unit: 'binary' }))
    .map((items) => ({ shape: [items.length], data: encodeBytes(items.map(wellFormed)) })),
};

const tensor: fc.Arbitrary<Omit<Tensor, 'name'>> = fc.oneof(
  ...Object.entries(contents).map(([datatype, arbitrary]) =>
    arbitrary.map((one) => ({ ...one, datatype: datatype as Datatype })),
  ),
);
const tensors = fc
  .uniqueArray(fc.tuple(fc.string({ unit: 'grapheme' }), tensor), { selector: ([name]) => name, maxLength: 4 })
  .map((entries) => entries.map(([name, rest]) => ({ name, ...rest })));

/** Unpaired surrogates have no UTF-8 form. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

function bytesOf(tensors: readonly Tensor[]) {
  return tensors.map((one) => ({ ...one, data: Buffer.from(one.data).toString('hex') }));
}

describe('request', () => {
  it('is decoded to what was encoded, as JSON and as binary data', () => {
    fc.assert(
      fc.property(tensors, fc.string({ unit: 'grapheme' }), fc.boolean(), (inputs, id, binary) => {
        const parameters = new Map([['p', id]]);
        const outputs = inputs.map(({ name }, index) => ({ name, binary: index % 2 === 0 }));
        const message = encodeInferRequest({ id, inputs, outputs, parameters, binary });
        const body = Buffer.concat([Buffer.from(message.header, 'latin1'), ...message.blobs]);
        expect(body.length).toBe(message.byteLength);
        const decoded = decoder.decode({ target, body, headerLength: message.headerLength });
        expect(bytesOf(decoded.inputs)).toEqual(bytesOf(inputs));
        expect(decoded).toMatchObject({ id, requestedOutputs: outputs.map((output) => output.name) });
        for (const output of outputs) expect(decoded.format.isBinary(output.name)).toBe(output.binary);
        expect(decoded.parameters.get('p')).toBe(id);
      }),
      { seed: 6, numRuns: 300 },
    );
  });

  it('asks for binary outputs unless it names them or is JSON itself', () => {
    const ask = (message: object) => encodeInferRequest({ inputs: [], ...message }).header;
    expect(ask({})).toBe('{"inputs":[],"parameters":{"binary_data_output":true}}');
    expect(ask({ binary: false })).toBe('{"inputs":[]}');
    expect(ask({ outputs: [{ name: 'y', binary: false }] })).toBe(
      '{"inputs":[],"outputs":[{"name":"y","parameters":{"binary_data":false}}]}',
    );
  });
});

describe('response', () => {
  it('is decoded to what was encoded, for every choice of forms', () => {
    fc.assert(
      fc.property(tensors, fc.string({ unit: 'grapheme' }), fc.nat(), (outputs, id, choice) => {
        const listed = new Map(
          outputs.map(({ name }, index) => [
            name,
            ((choice >> index) & 1) === 1 ? ('binary' as const) : ('json' as const),
          ]),
        );
        const format = new ResponseFormat({ listed, binaryByDefault: false });
        const { header, blobs, headerLength, byteLength } = format.encode(
          { modelName: 'm', modelVersion: '3', outputs },
          id,
        );
        const body = Buffer.concat([Buffer.from(header, 'latin1'), ...blobs]);
        expect(body.length).toBe(byteLength);
        const decoded = decodeInferResponse({ body, headerLength });
        expect(bytesOf(decoded.outputs)).toEqual(bytesOf(outputs));
        expect(decoded.id).toBe(id);
      }),
      { seed: 7, numRuns: 300 },
    );
  });
});

describe('hostile bodies', () => {
  const valid =
    '{"id":"1","parameters":{"a":[1]},"inputs":[{"name":"x","datatype":"FP32","shape":[2],"data":[1,2]}],"outputs":[{"name":"y"}]}';

  it('never cause anything but our own error: random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.option(fc.integer({ min: -2, max: 70 })), (bytes, length) => {
        assertOwnError(() => decoder.decode({ target, body: bytes, headerLength: length ?? undefined }));
      }),
      { seed: 8, numRuns: 2000 },
    );
  });

  it('never cause anything but our own error: valid requests with some bytes changed', () => {
    const change = fc.tuple(fc.nat(valid.length - 1), fc.constantFrom(...'{}[]",:0-9eE.NIt\\u\n\u0000x'));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const body = Buffer.from(valid);
        for (const [at, character] of changes) body.write(character, at, 'latin1');
        assertOwnError(() => decoder.decode({ target, body, headerLength: undefined }));
      }),
      { seed: 9, numRuns: 3000 },
    );
  });

  it('never cause anything but our own error: JSON values of other types in every place', () => {
    const value = fc.oneof(
      fc.json({ maxDepth: 2 }),
      fc.constantFrom('NaN', '-Infinity', '1e999', '18446744073709551616', '-1', '[[[[1]]]]'),
    );
    const member = (key: string) => value.map((text) => `"${key}":${text}`);
    const entry = fc
      .array(
        fc.oneof(
          ...['name', 'datatype', 'shape', 'data', 'parameters'].map(member),
          fc.constantFrom('"datatype":"FP32"', '"name":"x"', '"shape":[1]'),
        ),
        { maxLength: 6 },
      )
      .map((members) => `{${members.join(',')}}`);
    const root = fc
      .tuple(member('id'), member('parameters'), entry, entry)
      .map(([id, parameters, input, output]) => `{${id},${parameters},"inputs":[${input}],"outputs":[${output}]}`);
    const rootWithoutId = root.map((text) => text.replace(/^\{"id":.*?,"parameters":.*?,"inputs"/, '{"inputs"'));
    fc.assert(
      fc.property(fc.oneof(root, rootWithoutId), (text) => {
        assertOwnError(() => decoder.decode({ target, body: Buffer.from(text), headerLength: undefined }));
      }),
      { seed: 10, numRuns: 2000 },
    );
  });
});

function assertOwnError(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(InferenceServerError);
  }
}
