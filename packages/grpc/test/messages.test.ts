/** The codec of inference against protobufjs, which knows the messages from the .proto. */
import { DATATYPES, type Datatype, type ParameterValue } from '@nereid/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GrpcError } from '../src/errors.ts';
import { MessageReader, prefixOf } from '../src/framing.ts';
import { DEFAULT_LIMITS, decodeInferRequest, rawContentsAt } from '../src/infer/request.ts';
import { encodeInferResponse, encodeStreamError, encodeStreamResponse } from '../src/infer/response.ts';
import { messageType } from '../src/schema.ts';

const datatype = fc.constantFrom(...(Object.keys(DATATYPES) as Datatype[]));
const shape = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 4 });
const bytes = fc.uint8Array({ maxLength: 600 }).map((array) => Buffer.from(array));
const tensor = fc.record({ name: fc.string({ unit: 'binary' }), datatype, shape, data: bytes });
const tensors = fc.uniqueArray(tensor, { maxLength: 5, selector: ({ name }) => name });

const varint = (value: number) => (value < 128 ? Buffer.of(value) : Buffer.of((value & 0x7f) | 0x80, value >> 7));

interface Tensorlike {
  readonly name?: string;
  readonly datatype?: string;
  readonly shape?: readonly string[];
}

const decoded = (type: string, pieces: readonly Uint8Array[]) =>
  messageType(type).toObject(messageType(type).decode(Buffer.concat(pieces)), { longs: String, bytes: Buffer });

describe('a request', () => {
  it('is read as protobufjs wrote it', () => {
    fc.assert(
      fc.property(tensors, fc.string({ unit: 'binary' }), fc.array(fc.string()), (inputs, id, outputs) => {
        const requested = [...new Set(outputs)];
        const type = messageType('inference.ModelInferRequest');
        const message = {
          modelName: 'm',
          modelVersion: '3',
          id,
          inputs: inputs.map(({ name, datatype: kind, shape: dims }) => ({ name, datatype: kind, shape: dims })),
          outputs: requested.map((name) => ({ name })),
          rawInputContents: inputs.map(({ data }) => data),
        };
        const request = decodeInferRequest(Buffer.from(type.encode(message).finish()));
        expect(request).toMatchObject({ modelName: 'm', modelVersion: '3', id, requestedOutputs: requested });
        expect(
          request.inputs.map(({ name, datatype: kind, shape: dims, data }) => [name, kind, dims, [...data]]),
        ).toEqual(inputs.map(({ name, datatype: kind, shape: dims, data }) => [name, kind, dims, [...data]]));
      }),
    );
  });

  it('tells by its first bytes where its raw contents begin, or that they do not tell', () => {
    fc.assert(
      fc.property(tensors, fc.array(fc.string()), fc.nat(3000), (inputs, outputs, length) => {
        const type = messageType('inference.ModelInferRequest');
        const contents = Buffer.alloc(3000, 0xff);
        const fields = {
          modelName: 'm',
          inputs: inputs.map(({ name }) => ({ name })),
          outputs: outputs.map((name) => ({ name })),
        };
        const whole = Buffer.from(type.encode({ ...fields, rawInputContents: [contents] }).finish());
        const at = whole.length - contents.length;
        // The contents are told as soon as the length before them is there.
        expect([0, at]).toContain(rawContentsAt(whole.subarray(0, length)));
        expect(rawContentsAt(whole.subarray(0, at))).toBe(at);
        expect(rawContentsAt(Buffer.from(type.encode(fields).finish()))).toBe(0);
      }),
    );
    fc.assert(fc.property(bytes, (body) => rawContentsAt(body) <= body.length));
  });

  it('of any bytes is read or refused, and never anything else', () => {
    const refusesOrReads = (body: Buffer) => {
      try {
        decodeInferRequest(body);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(GrpcError);
      }
    };
    fc.assert(fc.property(bytes, refusesOrReads), { numRuns: 2000 });
    // Bytes that begin well: a message with one byte changed or its end missing.
    const type = messageType('inference.ModelInferRequest');
    const whole = Buffer.from(
      type
        .encode({
          modelName: 'm',
          parameters: { p: { int64Param: -1 } },
          inputs: [{ name: 'x', datatype: 'INT64', shape: [2], contents: { int64Contents: [1, -1] } }],
          outputs: [{ name: 'y', parameters: { classification: { int64Param: 1 } } }],
        })
        .finish(),
    );
    for (let i = 0; i < whole.length; i++) {
      refusesOrReads(whole.subarray(0, i));
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const changed = Buffer.from(whole);
        changed[i] = value;
        refusesOrReads(changed);
      }
    }
  });

  it.each([
    ['of number 0', [0x00]],
    ['of number 0 with bytes', [0x02, 0x01, 0x78]],
    // As a double it loses its low bits, and with them its encoding.
    ['whose tag is beyond 32 bits', [0x8f, 0xde, 0xb9, 0xaa, 0xbf, 0xe9, 0xf0, 0xff, 0xff, 0x01, 0x3a, 0x00]],
    ['whose tag is beyond 64 bits', Array<number>(11).fill(0xff)],
  ])('with a field %s is refused, wherever it stands', (_, tag) => {
    const whole = Buffer.from(messageType('inference.ModelInferRequest').encode({ modelName: 'm' }).finish());
    for (const body of [
      [...tag, ...whole],
      [...whole, ...tag],
      [0x2a, tag.length, ...tag],
    ])
      expect(() => decodeInferRequest(Buffer.from(body))).toThrow(GrpcError);
  });

  it.each([
    ['negative', -1],
    ['beyond what can be counted', '1152921504606846976'],
  ])('with a dimension that is %s is refused', (_, dimension) => {
    const type = messageType('inference.ModelInferRequest');
    const inputs = [{ name: 'x', datatype: 'FP32', shape: [dimension] }];
    const message = type.fromObject({ modelName: 'm', inputs, rawInputContents: [Buffer.alloc(4)] });
    expect(() => decodeInferRequest(Buffer.from(type.encode(message).finish()))).toThrow(GrpcError);
  });

  it.each([
    ['more elements than its shape', [1], { boolContents: [true, true] }, 'more than the 1 elements of its shape'],
    ['contents that are longer than allowed', [9], { boolContents: Array(9).fill(true) }, 'more than the limit of 8'],
    ['more dimensions than allowed', [1, 1, 1], { boolContents: [true] }, 'more than 2 dimensions'],
  ])('with %s is refused', (_, dims, contents, message) => {
    const type = messageType('inference.ModelInferRequest');
    const inputs = [{ name: 'x', datatype: 'BOOL', shape: dims, contents }];
    const body = Buffer.from(type.encode({ modelName: 'm', inputs }).finish());
    expect(() => decodeInferRequest(body, { ...DEFAULT_LIMITS, maxDimensions: 2, maxContentsBytes: 8 })).toThrow(
      message,
    );
  });

  it('with more fields than allowed is refused, wherever they are and whatever they say', () => {
    const nested = (inner: Buffer) => Buffer.concat([Buffer.from([0x2a]), varint(inner.length), inner]);
    const empty = Buffer.from('\x0a\x00'.repeat(100), 'latin1');
    for (const body of [empty, nested(empty), Buffer.from('\x78\x00'.repeat(100), 'latin1')]) {
      const read = (maxFields: number) => decodeInferRequest(body, { ...DEFAULT_LIMITS, maxFields });
      expect(() => read(99)).toThrow('more than 99 fields');
      expect(() => read(101)).not.toThrow(/fields/);
    }
  });

  it('with a huge shape takes no more memory than its contents fill', () => {
    const type = messageType('inference.ModelInferRequest');
    const inputs = [{ name: 'x', datatype: 'INT64', shape: [2 ** 40], contents: { int64Contents: [1, -1] } }];
    const [input] = decodeInferRequest(Buffer.from(type.encode({ modelName: 'm', inputs }).finish())).inputs;
    expect([...(input?.data ?? [])]).toEqual([1, 0, 0, 0, 0, 0, 0, 0, ...Array(8).fill(255)]);
  });

  it('has its typed contents read in whichever form they were written, one by one or packed', () => {
    const numbers = (...bytes: number[]) => Buffer.from([0x2a, bytes.length, ...bytes]);
    const input = (...contents: number[]) =>
      Buffer.from([0x0a, 1, 0x78, 0x12, 5, ...Buffer.from('INT32'), 0x1a, 1, 2, ...numbers(...contents)]);
    for (const contents of [
      [0x12, 2, 1, 2],
      [0x10, 1, 0x10, 2],
      [0x10, 1, 0x12, 1, 2],
      [0x12, 1, 1, 0x12, 1, 2],
    ]) {
      const bytes = input(...contents);
      const body = Buffer.concat([Buffer.from([0x0a, 1, 0x6d, 0x2a, bytes.length]), bytes]);
      expect([...(decodeInferRequest(body).inputs[0]?.data ?? [])]).toEqual([1, 0, 0, 0, 2, 0, 0, 0]);
    }
  });

  it('with more tensors or parameters than allowed is refused', () => {
    const type = messageType('inference.ModelInferRequest');
    const limits = { ...DEFAULT_LIMITS, maxTensors: 2, maxParameters: 2 };
    const many = Array.from({ length: 3 }, (_, i) => ({ name: String(i) }));
    const parameters = Object.fromEntries(many.map(({ name }) => [name, { boolParam: true }]));
    for (const message of [{ inputs: many }, { outputs: many }, { parameters }]) {
      expect(() => decodeInferRequest(Buffer.from(type.encode(message).finish()), limits)).toThrow('more than 2');
    }
  });
});

describe('a response', () => {
  const value: fc.Arbitrary<ParameterValue> = fc.oneof(
    fc.string(),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  );

  it('is read by protobufjs as it was meant, on a call and on a stream', () => {
    fc.assert(
      fc.property(tensors, fc.string(), fc.dictionary(fc.string(), value, { maxKeys: 3 }), (outputs, id, given) => {
        const parameters = new Map(Object.entries(given));
        const response = { modelName: 'm', modelVersion: '2', outputs, parameters };
        const plain = decoded('inference.ModelInferResponse', encodeInferResponse(response, id).pieces);
        const { pieces } = encodeStreamResponse({
          head: { modelName: 'm', modelVersion: '2', id },
          outputs,
          parameters,
          isFinal: true,
        });
        const streamed = decoded('inference.ModelStreamInferResponse', pieces).inferResponse;
        for (const message of [plain, streamed]) {
          expect(message).toMatchObject({ modelName: 'm', modelVersion: '2' });
          expect(message.id ?? '').toBe(id);
          expect(
            (message.outputs ?? []).map(({ name = '', datatype: kind, shape: dims = [] }: Tensorlike) => [
              name,
              kind,
              dims,
            ]),
          ).toEqual(outputs.map(({ name, datatype: kind, shape: dims }) => [name, kind, dims.map(String)]));
          expect((message.rawOutputContents ?? []).map((raw: Buffer) => [...raw])).toEqual(
            outputs.map(({ data }) => [...data]),
          );
          for (const [key, expected] of parameters) {
            const [found] = Object.values(message.parameters[key]);
            expect(String(found)).toBe(String(expected));
          }
        }
        expect(streamed.parameters.triton_final_response).toEqual({ boolParam: true });
      }),
    );
  });

  it('of large outputs is in pieces that view them', () => {
    const data = new Uint8Array(100_000);
    const output = { name: 'o', datatype: 'UINT8', shape: [100_000], data } as const;
    const { pieces, byteLength, isCopied } = encodeInferResponse(
      { modelName: 'm', modelVersion: '1', outputs: [output] },
      '',
    );
    expect([pieces.includes(data), isCopied]).toEqual([true, false]);
    expect(pieces.reduce((sum, piece) => sum + piece.length, 0)).toBe(byteLength);
  });

  it('that is an error has a text, whatever the error said', () => {
    for (const text of ['boom', '']) {
      const message = decoded('inference.ModelStreamInferResponse', encodeStreamError(text, { id: 'i' }, true).pieces);
      expect([message.errorMessage, message.inferResponse.id]).toEqual([text || 'unknown error', 'i']);
    }
  });
});

describe('messages on a stream', () => {
  it('come out as they went in, however the bytes were cut', () => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 6 }), fc.array(fc.integer({ min: 1, max: 700 })), (messages, cuts) => {
        const whole = Buffer.concat(messages.flatMap((message) => [prefixOf(message.length), message]));
        const reader = new MessageReader(1000);
        const found: Buffer[] = [];
        let start = 0;
        for (const cut of [...cuts, whole.length]) {
          for (const { bytes: message } of reader.take(whole.subarray(start, start + cut)))
            found.push(Buffer.from(message));
          start = Math.min(start + cut, whole.length);
        }
        expect(found.map((message) => [...message])).toEqual(messages.map((message) => [...message]));
        expect(reader.isInside).toBe(false);
      }),
    );
  });
});
