/** Bodies made from valid ones by many small changes: what is refused is refused by our own error, what is taken means what a simple reader says. */
import { isUtf8 } from 'node:buffer';
import { DATATYPES, type Datatype, encodeBytes, type InferenceRequestInit, type Tensor } from '@nereid/core';
import { fuzz, mutated } from '@nereid/testing/fuzz';
import fc from 'fast-check';
import { expect } from 'vitest';
import {
  decodeGenerateRequest,
  decodeInferResponse,
  type EncodedMessage,
  encodeGenerateResponse,
  encodeInferRequest,
  ProtocolError,
  RequestDecoder,
  ResponseFormat,
} from '../src/index.ts';
import { PlainNumber, type PlainObject, type PlainValue, readPlain } from './plain-json.ts';

const target = { modelName: 'm', modelVersion: '' };

/** Small limits, so that inputs pass them. */
const limits = { maxJsonDepth: 6, maxJsonValues: 200, maxTensors: 8, maxJsonTensorBytes: 4096, maxHeaderBytes: 65_536 };

/** A decoder that remembers, and one that reads every header anew. */
const decoder = new RequestDecoder({ limits, cachedHeaders: 64 });
const forgetful = new RequestDecoder({ limits, cachedHeaders: 0 });

const WORDS = [
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\u0041',
    '\\ud83d\\ude00',
    '\\ud83d',
    ' ',
    '\n',
    '\u0000',
    'é',
    '\u{1f600}',
  ],
  ...[
    'null',
    'true',
    'false',
    'NaN',
    '-Infinity',
    'Inf',
    '-',
    '-0',
    '0',
    '1e5',
    '1E+400',
    '0.1',
    '255',
    '256',
    '1.0',
    '-1',
  ],
  ...['9007199254740993', '18446744073709551615', '18446744073709551616', '9'.repeat(40), `0.${'1'.repeat(30)}`],
  ...['"name"', '"shape"', '"datatype"', '"data"', '"parameters"', '"id"', '"inputs"', '"outputs"'],
  ...[
    '"binary_data_size"',
    '"binary_data"',
    '"shared_memory_region"',
    '"classification"',
    '"sequence_id"',
    '"triton_x"',
  ],
  ...Object.keys(DATATYPES).map((name) => `"${name}"`),
  ...['"data":[1,2]', '"binary_data_size":3', '"shape":[0]', '[[', ']]', '{"a":', '[1,'],
];

const datatype = fc.constantFrom(...(Object.keys(DATATYPES) as Datatype[]));
const name = fc.oneof(fc.constantFrom('x', 'y', 'é', '', '"', '__proto__', 'constructor'), fc.string({ maxLength: 5 }));
const integer = fc.oneof(
  fc.integer({ min: -300, max: 300 }).map(BigInt),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
);
const real = fc.oneof(fc.double(), fc.float(), fc.integer());

function elementOf(kind: Datatype): fc.Arbitrary<string> {
  if (kind === 'BOOL') return fc.boolean().map(String);
  if (kind === 'BYTES') return fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => JSON.stringify(text));
  return kind.startsWith('FP') || kind === 'BF16' ? real.map(String) : integer.map(String);
}

/** An input with its data in JSON, as text. */
const jsonInput = datatype.chain((kind) =>
  fc.tuple(name, fc.array(elementOf(kind), { maxLength: 6 }), fc.boolean()).map(([tensor, values, isNested]) => {
    const data = isNested ? `[[${values.join('],[')}]]` : `[${values.join(', ')}]`;
    return `{"name":${JSON.stringify(tensor)},"datatype":"${kind}","shape":[${isNested ? `${values.length},1` : values.length}],"data":${data}}`;
  }),
);
const parameter = fc.tuple(
  fc.constantFrom('a', 'priority', 'timeout', 'sequence_id', 'sequence_start', 'binary_data_output', 'nereid_batch'),
  fc.oneof(
    integer.map(String),
    fc.boolean().map(String),
    name.map((text) => JSON.stringify(text)),
    real.map(String),
  ),
);
const parameters = fc
  .array(parameter, { maxLength: 3 })
  .map((entries) => `{${entries.map(([key, value]) => `"${key}":${value}`).join(',')}}`);
const output = fc
  .tuple(name, fc.constantFrom('', ',"parameters":{"binary_data":true}', ',"parameters":{"classification":2}'))
  .map(([tensor, more]) => `{"name":${JSON.stringify(tensor)}${more}}`);
const jsonBody = fc
  .tuple(fc.array(jsonInput, { maxLength: 3 }), parameters, fc.array(output, { maxLength: 2 }), name)
  .map(([inputs, map, outputs, id]) =>
    Buffer.from(
      `{"id":${JSON.stringify(id)},"parameters":${map},"inputs":[${inputs.join(',')}],"outputs":[${outputs.join(',')}]}`,
    ),
  );

/** What a run gave: a value, or the message of our own error. */
function outcome<T>(run: () => T): { readonly value: T } | { readonly refusal: string } {
  try {
    return { value: run() };
  } catch (thrown) {
    if (!(thrown instanceof ProtocolError)) throw thrown;
    return { refusal: thrown.message };
  }
}

const plain = (tensors: readonly Tensor[]) =>
  tensors.map(({ name: tensor, datatype: kind, shape, data }) => [
    tensor,
    kind,
    shape,
    Buffer.from(data).toString('hex'),
  ]);

/** The bytes of a tensor whose elements are these, by the plainest means. */
function bytesOf(kind: Datatype, values: readonly PlainValue[]): Buffer {
  if (kind === 'BYTES') return Buffer.from(encodeBytes(values.map(String)));
  const { byteSize } = DATATYPES[kind];
  const bytes = Buffer.alloc(values.length * byteSize);
  for (const [i, value] of values.entries()) {
    const at = i * byteSize;
    if (!(value instanceof PlainNumber)) bytes[at] = value === true ? 1 : 0;
    else if (kind === 'FP32') bytes.writeFloatLE(value.value, at);
    else if (kind === 'FP64') bytes.writeDoubleLE(value.value, at);
    else {
      const word = Buffer.alloc(8);
      word.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value.text)));
      word.copy(bytes, at, 0, byteSize);
    }
  }
  return bytes;
}

function leaves(value: PlainValue | undefined): readonly PlainValue[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value.flatMap(leaves) : [value as PlainValue];
}

function expectAsPlain(text: string, { inputs, id }: Pick<InferenceRequestInit, 'inputs' | 'id'>): void {
  const document = readPlain(text) as PlainObject;
  expect(id).toBe(document.get('id') ?? '');
  const entries = document.get('inputs') as readonly PlainObject[];
  expect(plain(inputs)).toEqual(
    entries.map((entry) => [
      entry.get('name'),
      entry.get('datatype'),
      leaves(entry.get('shape')).map((dim) => dim instanceof PlainNumber && dim.value + 0),
      bytesOf(entry.get('datatype') as Datatype, leaves(entry.get('data'))).toString('hex'),
    ]),
  );
}

const bytesOfMessage = (message: EncodedMessage) =>
  Buffer.concat([Buffer.from(message.header, 'latin1'), ...message.blobs], message.byteLength);

fuzz(
  'http-json',
  fc.property(mutated(jsonBody, { dictionary: WORDS }), (body) => {
    const first = outcome(() => forgetful.decode({ target, body, headerLength: undefined }));
    if ('refusal' in first) return;
    const { inputs, id } = first.value;
    if (isUtf8(body)) expectAsPlain(body.toString('utf8'), first.value);
    // As binary data the same request says the same.
    const again = encodeInferRequest({ id, inputs });
    const repeated = forgetful.decode({ target, body: bytesOfMessage(again), headerLength: again.headerLength });
    expect(plain(repeated.inputs)).toEqual(plain(inputs));
  }),
);

const blob = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
const binaryParts = fc.record({
  blobs: fc.array(blob, { maxLength: 4 }),
  kinds: fc.array(datatype, { minLength: 4, maxLength: 4 }),
  id: name,
});
/** A header and the blobs that it announces. */
const binaryBody = binaryParts.map(({ blobs, kinds, id }) => {
  const inputs = blobs.map((data, i) => ({
    name: `x${i}`,
    datatype: kinds[i] ?? 'UINT8',
    shape: [data.length],
    parameters: { binary_data_size: data.length },
  }));
  return { header: Buffer.from(JSON.stringify({ id, inputs })), blobs: Buffer.concat(blobs) };
});
const binaryCase = fc
  .tuple(binaryBody, fc.integer({ min: -3, max: 3 }), fc.integer({ min: -4, max: 4 }))
  .map(([{ header, blobs }, lengthError, tail]) => ({ header, blobs, lengthError, tail }))
  .chain(({ header, blobs, lengthError, tail }) =>
    mutated(fc.constant(header), { dictionary: WORDS, changes: 2 }).map((changed) => ({
      body: Buffer.concat([changed, blobs, Buffer.alloc(Math.max(tail, 0))]).subarray(
        0,
        changed.length + blobs.length + tail,
      ),
      headerLength: changed.length + lengthError,
    })),
  );

fuzz(
  'http-binary',
  fc.property(binaryCase, ({ body, headerLength }) => {
    const first = outcome(() => forgetful.decode({ target, body, headerLength }));
    // The second finds the header that the first left, whatever stands there.
    for (let round = 0; round < 2; round++) {
      const cached = outcome(() => decoder.decode({ target, body, headerLength }));
      if ('refusal' in first) expect(cached).toEqual(first);
      else {
        expect('value' in cached && [cached.value.id, plain(cached.value.inputs)]).toEqual([
          first.value.id,
          plain(first.value.inputs),
        ]);
      }
    }
    if ('refusal' in first) return;
    // Blobs follow each other from the end of the header to the end of the body, and nothing is between them.
    const text = body.toString('utf8', 0, headerLength);
    const inHeader = text.includes('"data"') || text.includes('shared_memory');
    if (inHeader) return;
    expect(Buffer.concat(first.value.inputs.map(({ data }) => data))).toEqual(body.subarray(headerLength));
  }),
);

const tensors = fc.array(
  fc
    .tuple(name, blob)
    .map(([tensor, data]) => ({ name: tensor, datatype: 'UINT8' as const, shape: [data.length], data })),
  { maxLength: 3 },
);
const answer = fc.tuple(tensors, name, fc.boolean()).map(([outputs, id, binaryByDefault]) => {
  const format = new ResponseFormat({ listed: new Map(), binaryByDefault });
  return bytesOfMessage(format.encode({ modelName: 'm', modelVersion: '1', outputs }, id));
});

fuzz(
  'http-answer',
  fc.property(mutated(answer, { dictionary: WORDS }), fc.option(fc.nat(400)), (body, length) => {
    const found = outcome(() => decodeInferResponse({ body, headerLength: length ?? undefined, limits }));
    if ('refusal' in found) return;
    const format = new ResponseFormat({ listed: new Map(), binaryByDefault: true });
    const again = format.encode(found.value, found.value.id);
    const repeated = decodeInferResponse({ body: bytesOfMessage(again), headerLength: again.headerLength });
    expect(plain(repeated.outputs)).toEqual(plain(found.value.outputs));
  }),
);

const INPUTS = [
  { name: 'text', datatype: 'BYTES', shape: [-1] },
  { name: 'n', datatype: 'INT32', shape: [1] },
  { name: 'wide', datatype: 'UINT64', shape: [-1, 1] },
  { name: 'grid', datatype: 'FP32', shape: [-1, 2, -1] },
  { name: 'none', datatype: 'FP64', shape: [0, -1] },
  { name: 'half', datatype: 'FP16', shape: [-1] },
  { name: 'is', datatype: 'BOOL', shape: [2] },
];
const anyValue = fc.oneof(
  fc.json({ maxDepth: 2 }),
  ...(['BYTES', 'INT32', 'UINT64', 'FP32', 'BOOL'] as const).map((kind) =>
    fc.array(elementOf(kind), { maxLength: 4 }).map((values) => `[${values.join(',')}]`),
  ),
);
const generateBody = fc
  .array(fc.tuple(fc.constantFrom(...INPUTS.map((input) => input.name), 'id', 'parameters', 'stop'), anyValue), {
    maxLength: 6,
  })
  .map((members) => Buffer.from(`{${members.map(([key, value]) => `"${key}":${value}`).join(',')}}`));

function expectFitting({ inputs }: Pick<InferenceRequestInit, 'inputs'>): void {
  for (const { name: tensor, datatype: kind, shape, data } of inputs) {
    const declared = INPUTS.find((input) => input.name === tensor);
    expect(kind).toBe(declared?.datatype);
    if (shape.length > 0) {
      expect(shape.map((dim, axis) => (declared?.shape[axis] === -1 ? -1 : dim))).toEqual(declared?.shape);
      if (kind !== 'BYTES') expect(data.byteLength).toBe(shape.reduce((a, b) => a * b, 1) * DATATYPES[kind].byteSize);
    }
  }
}

fuzz(
  'generate',
  fc.property(
    mutated(generateBody, { dictionary: [...WORDS, ...INPUTS.map(({ name: key }) => `"${key}":`)] }),
    (body) => {
      const found = outcome(() => decodeGenerateRequest({ target, body, inputs: INPUTS, limits }));
      if ('refusal' in found) return;
      expectFitting(found.value);
      const outputs = found.value.inputs.filter(({ datatype: kind }) => kind !== 'FP16');
      const text = outcome(() => encodeGenerateResponse({ modelName: 'm', modelVersion: '1', outputs }, ''));
      if ('refusal' in text) throw new Error(`what was taken cannot be said: ${text.refusal}`);
    },
  ),
);
