import { DATATYPES, elementCount, isDatatype } from '@nereid/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BatchMessage, decodeBatch, encodeBatch } from '../../src/transport/batch-message.ts';

const datatypes = Object.keys(DATATYPES)
  .filter(isDatatype)
  .filter((datatype) => datatype !== 'BYTES');

const tensor = fc
  .record({
    datatype: fc.constantFrom(...datatypes),
    shape: fc.array(fc.nat(300), { maxLength: 4 }),
    offset: fc.nat(2 ** 20),
  })
  .map((place) => ({ ...place, bytes: elementCount(place.shape) * DATATYPES[place.datatype].byteSize }));

const message: fc.Arbitrary<BatchMessage> = fc.record({
  id: fc.nat(2 ** 31),
  generation: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  slotOffset: fc.nat(2 ** 31).map((offset) => offset * 1000),
  slotBytes: fc.constant(2 ** 40),
  regionBytes: fc.constant(2 ** 43),
  released: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  tensors: fc.array(tensor, { maxLength: 4 }),
  numbers: fc.array(fc.maxSafeNat(), { maxLength: 4 }),
});

const EXAMPLE: BatchMessage = {
  id: 1,
  generation: 2,
  slotOffset: 0,
  slotBytes: 128,
  regionBytes: 4096,
  released: 0,
  tensors: [{ datatype: 'FP32', shape: [2, 3], offset: 64, bytes: 24 }],
  numbers: [],
};

describe('batch messages', () => {
  it('come back as they were sent', () => {
    fc.assert(
      fc.property(message, (sent) => {
        expect(decodeBatch(encodeBatch(sent))).toEqual(sent);
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  it('are refused when they are cut off, at every place', () => {
    const bytes = encodeBatch(EXAMPLE);
    for (let size = 0; size < bytes.length; size++) {
      expect(() => decodeBatch(bytes.subarray(0, size))).toThrow(/malformed: it ends after \d+ bytes/);
    }
  });

  it.each([
    { what: 'a slot outside its region', message: { slotOffset: 4000 }, reason: 'a slot lies outside its region' },
    { what: 'a tensor outside its slot', message: { slotBytes: 64 }, reason: 'a tensor lies outside its slot' },
    {
      what: 'a shape that its bytes contradict',
      message: { tensors: [{ datatype: 'FP32' as const, shape: [2, 2], offset: 64, bytes: 24 }] },
      reason: 'shape and bytes of a tensor disagree',
    },
  ])('are refused with $what', ({ message: part, reason }) => {
    expect(() => decodeBatch(encodeBatch({ ...EXAMPLE, ...part }))).toThrow(`malformed: ${reason}`);
  });

  it('are refused with a datatype that does not exist, and with numbers beyond what is exact', () => {
    const bytes = encodeBatch(EXAMPLE);
    bytes[40] = 99;
    expect(() => decodeBatch(bytes)).toThrow('a tensor has an unknown datatype');
    const large = encodeBatch(EXAMPLE);
    large.fill(0xff, 24, 32);
    expect(() => decodeBatch(large)).toThrow(/the number \S+ is out of range/);
  });
});
