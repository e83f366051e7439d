import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DATATYPES, type Datatype, decodeBytes, isDatatype, type Tensor } from '@nereid/core';
import { tensor, usePython } from '@nereid/testing';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { readNpy } from '../src/npy/read.ts';
import { npyFile } from '../src/npy/write.ts';
import { onDisk } from './nereid.ts';

const NUMBERS = Object.keys(DATATYPES)
  .filter(isDatatype)
  .filter((datatype) => datatype !== 'BYTES' && datatype !== 'BF16');

const arrays = fc
  .record({
    datatype: fc.constantFrom<Datatype>(...NUMBERS),
    shape: fc.array(fc.nat(4), { maxLength: 4 }),
    seed: fc.nat(255),
  })
  .map(({ datatype, shape, seed }): Omit<Tensor, 'name'> => {
    const byteLength = shape.reduce((size, dim) => size * dim, DATATYPES[datatype].byteSize);
    return { datatype, shape, data: Uint8Array.from({ length: byteLength }, (_, i) => (i * 7 + seed) % 256) };
  });

it('reads what it writes', () => {
  fc.assert(
    fc.property(arrays, (array) => {
      const { datatype, shape, data } = readNpy(npyFile(array), 'x.npy');
      expect({ datatype, shape, data: [...data] }).toEqual({ ...array, data: [...array.data] });
    }),
    { seed: 1, numRuns: 300 },
  );
});

it('begins its elements at a multiple of 64', () => {
  fc.assert(
    fc.property(arrays, (array) => {
      const file = npyFile(array);
      expect((file.byteLength - array.data.byteLength) % 64).toBe(0);
    }),
    { seed: 2, numRuns: 100 },
  );
});

it('says a sentence about random bytes, and nothing else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, prefixed) => {
      const magic = prefixed ? Buffer.from('\x93NUMPY\x01\x00', 'latin1') : Buffer.alloc(0);
      expect(() => readNpy(Buffer.concat([magic, bytes]), 'x.npy')).toThrow("'x.npy' is no .npy file");
    }),
    { seed: 3, numRuns: 300 },
  );
});

describe('numpy itself', () => {
  const SCRIPT = `
import numpy as np, sys
d = sys.argv[1] + '/'
a = np.arange(6).reshape(2, 3)
types = dict(UINT8='u1', UINT16='u2', UINT32='u4', UINT64='u8', INT8='i1', INT16='i2', INT32='i4', INT64='i8', FP16='f2', FP32='f4', FP64='f8', BOOL='?')
for name, t in types.items(): np.save(d + name, a.astype(t))
np.save(d + 'fortran', np.asfortranarray(a))
np.save(d + 'fortran_row', np.asfortranarray(a[:1]))
np.save(d + 'big', a.astype('>f4'))
np.save(d + 'bytes', np.array([[b'ab', b''], [b'c', 'ü'.encode()]]))
np.save(d + 'text', np.array(['ab', '', 'ü€😀']))
np.save(d + 'objects', np.array(['a', None], dtype=object), allow_pickle=True)
np.save(d + 'complex', a.astype('c8'))
np.save(d + 'record', np.zeros(2, dtype=[('a', 'f4'), ('b', 'i4')]))
np.save(d + 'scalar', np.float32(2))
np.save(d + 'empty', np.zeros((0, 3), 'f4'))
np.save(d + 'bf16', np.array([0x3f80, 0x4000], 'u2').view('V2'))
`;
  const directory = onDisk({});
  const file = (name: string) => readFileSync(join(directory.path, `${name}.npy`));
  const read = (name: string) => readNpy(file(name), `${name}.npy`);

  beforeAll(() => {
    execFileSync(usePython(), ['-c', SCRIPT, directory.path]);
    return () => directory[Symbol.dispose]();
  });

  it.each(NUMBERS)('writes %s as we read it', (datatype) => {
    const { shape, ...array } = read(datatype);
    expect({ datatype: array.datatype, shape }).toEqual({ datatype, shape: [2, 3] });
    expect(npyFile({ shape, ...array }).equals(file(datatype))).toBe(true);
  });

  it('writes text that becomes BYTES', () => {
    const bytes = read('bytes');
    expect({ shape: bytes.shape, items: decodeBytes(bytes.data).map(String) }).toMatchObject({ shape: [2, 2] });
    expect(decodeBytes(bytes.data).map((item) => Buffer.from(item).toString())).toEqual(['ab', '', 'c', 'ü']);
    expect(decodeBytes(read('text').data).map((item) => Buffer.from(item).toString())).toEqual(['ab', '', 'ü€😀']);
  });

  it('writes scalars, empty arrays and opaque pairs of bytes', () => {
    expect(read('scalar').shape).toEqual([]);
    expect(read('empty').shape).toEqual([0, 3]);
    expect(read('bf16')).toMatchObject({ datatype: 'BF16', shape: [2] });
    expect(read('fortran_row').shape).toEqual([1, 3]);
  });

  it.each([
    ['fortran', 'is in Fortran order; write it in C order: numpy.save("fortran.npy", numpy.ascontiguousarray(array))'],
    [
      'big',
      'is big-endian (>f4); write it little-endian: numpy.save("big.npy", array.astype(array.dtype.newbyteorder("<")))',
    ],
    ['objects', 'holds Python objects; for text write numpy.save("objects.npy", array.astype("S"))'],
    ['complex', "is of numpy type '<c8', which no model takes; convert it with array.astype(…)"],
    ['record', "is of numpy type 'a record of several fields', which no model takes"],
  ])('writes %s, which is refused with the remedy', (name, message) => {
    expect(() => read(name)).toThrow(message);
  });

  it('is told when it was cut off', () => {
    expect(() => readNpy(file('FP32').subarray(0, -1), 'x.npy')).toThrow(
      "'x.npy' holds 23 bytes of elements, but its shape [2,3] takes 24; the file is damaged or cut off",
    );
  });

  it('reads what we write, BF16 widened and BYTES at a fixed width', () => {
    const tensors = [
      tensor({ name: 'a', datatype: 'BF16', values: [0x3f80, 0xc000] }),
      tensor({ name: 'b', datatype: 'BYTES', values: ['x', '', 'yz'], shape: [3, 1] }),
      tensor({ name: 'c', datatype: 'FP16', values: [0x3c00] }),
      tensor({ name: 'd', datatype: 'BYTES', values: [''] }),
    ];
    using written = onDisk(Object.fromEntries(tensors.map((each) => [`${each.name}.npy`, npyFile(each)])));
    const script =
      'import numpy as np, sys\nfor n in "abcd": a = np.load(f"{sys.argv[1]}/{n}.npy"); print(a.dtype, a.shape, a.tolist())';
    expect(execFileSync(usePython(), ['-c', script, written.path]).toString().trimEnd().split('\n')).toEqual([
      'float32 (2,) [1.0, -2.0]',
      "|S2 (3, 1) [[b'x'], [b''], [b'yz']]",
      'float16 (1,) [1.0]',
      "|S1 (1,) [b'']",
    ]);
  });
});
