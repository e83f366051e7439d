import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundedCache, RequestDecoder } from '../src/index.ts';

const target = { modelName: 'm', modelVersion: '' };
const other = { modelName: 'n', modelVersion: '2' };

function request(header: string, blob: Uint8Array, to = target) {
  const text = Buffer.from(header);
  return { target: to, body: Buffer.concat([text, blob]), headerLength: text.length };
}

const input = (datatype = 'FP32') =>
  `{"name":"x","datatype":"${datatype}","shape":[1],"parameters":{"binary_data_size":4}}`;
const header = (id: string, datatype?: string) => `{${id}"inputs":[${input(datatype)}]}`;
const bytes = (value: number) => new Uint8Array(Float32Array.of(value).buffer);

describe('remembered headers', () => {
  it('share the signature of their target, and nothing of the contents', () => {
    const decoder = new RequestDecoder();
    const first = decoder.decode(request(header(''), bytes(1)));
    const second = decoder.decode(request(header(''), bytes(2)));
    expect(second.signature).toBe(first.signature);
    expect(second.signature).toBeDefined();
    expect([first.inputs[0]?.data, second.inputs[0]?.data].map((data) => data && [...data])).toEqual([
      [...bytes(1)],
      [...bytes(2)],
    ]);
  });

  it.each(['"id":"r-1",', '"id": "r-1",', '"id":"é",', '"id":"a\\"b",', '"id":"",'])(
    'give every request its own id: after %s',
    (id) => {
      const decoder = new RequestDecoder();
      const signatures = [id, '"id":"other",', id, ''].map((member) => {
        const decoded = decoder.decode(request(header(member), bytes(0)));
        expect(decoded.id).toBe(member === '' ? '' : JSON.parse(`{${member.slice(0, -1)}}`).id);
        return decoded.signature;
      });
      expect(signatures[2]).toBe(signatures[0]);
    },
  );

  it('with a leading plain id share one signature, however many ids there are', () => {
    const decoder = new RequestDecoder({ cachedHeaders: 2 });
    const signatures = Array.from(
      { length: 50 },
      (_, i) => decoder.decode(request(header(`"id":"${i}",`), bytes(i))).signature,
    );
    expect(new Set(signatures).size).toBe(1);
  });

  it('have one signature per target', () => {
    const decoder = new RequestDecoder();
    const signatures = [target, other, target, other].map(
      (to) => decoder.decode(request(header(''), bytes(0), to)).signature,
    );
    expect(signatures[2]).toBe(signatures[0]);
    expect(signatures[3]).toBe(signatures[1]);
    expect(signatures[1]).not.toBe(signatures[0]);
  });

  it('carry no signature with a BYTES input, whose contents need checking every time', () => {
    const decoder = new RequestDecoder();
    expect(decoder.decode(request(header('', 'BYTES'), new Uint8Array(4))).signature).toBeUndefined();
  });

  it('are not made of headers with JSON tensors', () => {
    const decoder = new RequestDecoder();
    const withData = '{"inputs":[{"name":"x","datatype":"INT8","shape":[1],"data":[7]}]}';
    expect(decoder.decode(request(withData, new Uint8Array())).signature).toBeUndefined();
  });

  it('differ when anything but the id differs', () => {
    const decoder = new RequestDecoder();
    const outputs = (name: string) => `{"id":"1","inputs":[${input()}],"outputs":[{"name":"${name}"}]}`;
    const decoded = ['a', 'b'].map((name) => decoder.decode(request(outputs(name), bytes(0))));
    expect(decoded.map((one) => one.requestedOutputs)).toEqual([['a'], ['b']]);
    expect(decoded[0]?.signature).not.toBe(decoded[1]?.signature);
  });

  it('are forgotten when there are too many, but not the latest', () => {
    const decoder = new RequestDecoder({ cachedHeaders: 4 });
    const decode = (i: number) =>
      decoder.decode(request(`{"inputs":[${input()}],"outputs":[{"name":"y${i}"}]}`, bytes(0)));
    const first = Array.from({ length: 100 }, (_, i) => decode(i));
    expect(decode(99).signature).toBe(first[99]?.signature);
    expect(first.filter(({ signature }, i) => signature === decode(i).signature).length).toBeLessThanOrEqual(4);
    for (let i = 0; i < 100; i++) expect(decode(i).requestedOutputs).toEqual([`y${i}`]);
  });

  it('decode to what a decoder without memory decodes, refusals included', () => {
    const warm = new RequestDecoder({ cachedHeaders: 8 });
    const cold = new RequestDecoder({ cachedHeaders: 0 });
    const id = fc.constantFrom(
      '',
      '"id":"a",',
      '"id": "b",',
      '"id":"\\u0041",',
      '"id":7,',
      '"id":"\u0001",',
      '"id":"x',
    );
    const datatype = fc.constantFrom('FP32', 'BYTES', 'INT8', 'NONE');
    const blob = fc.uint8Array({ minLength: 3, maxLength: 5 });
    const shift = fc.constantFrom(0, 0, 0, 1, -1);
    fc.assert(
      fc.property(fc.array(fc.tuple(id, datatype, blob, shift), { maxLength: 20 }), (requests) => {
        for (const [member, type, contents, by] of requests) {
          const one = request(header(member, type), contents);
          const message = { ...one, headerLength: one.headerLength + by };
          expect(outcome(() => warm.decode(message))).toEqual(outcome(() => cold.decode(message)));
        }
      }),
      { seed: 5, numRuns: 200 },
    );
  });
});

function outcome(decode: () => ReturnType<RequestDecoder['decode']>): unknown {
  try {
    const { signature, format, ...rest } = decode();
    return { ...rest, isSigned: signature !== undefined, isBinary: format.isBinary('y') };
  } catch (error) {
    return String(error);
  }
}

describe('BoundedCache', () => {
  it('keeps what is used and drops the rest, within twice its capacity', () => {
    const cache = new BoundedCache<number, number>(4);
    cache.set(-1, -1);
    for (let i = 0; i < 100; i++) {
      cache.set(i, i);
      expect(cache.get(-1)).toBe(-1);
    }
    const kept = Array.from({ length: 100 }, (_, i) => cache.get(i)).filter((value) => value !== undefined);
    expect(kept.length).toBeLessThanOrEqual(8);
  });

  it('keeps nothing at capacity 0', () => {
    const cache = new BoundedCache<string, string>(0);
    cache.set('a', 'b');
    expect(cache.get('a')).toBeUndefined();
  });
});
