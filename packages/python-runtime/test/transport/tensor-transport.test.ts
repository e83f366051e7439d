/** The other side is played by a second view of the same regions, as a child would have it. */
import { readSync, writeSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  decodeBatch,
  encodeBatch,
  type OutgoingTensor,
  TensorTransport,
  type TransportOptions,
} from '../../src/transport/index.ts';
import { slotHeader } from '../../src/transport/slot-allocator.ts';

class Subject {
  readonly transport: TensorTransport;

  constructor(options?: TransportOptions) {
    this.transport = new TensorTransport(options);
  }

  /** What the child sees of a batch: the bytes of each tensor. */
  seen(message: Buffer): Uint8Array[] {
    const { slotOffset, tensors } = decodeBatch(message);
    return tensors.map(({ offset, bytes }) => {
      const data = new Uint8Array(bytes);
      readSync(this.transport.descriptors[0], data, 0, bytes, slotOffset + offset);
      return data;
    });
  }

  /** An answer of one FP32 tensor, as the child would write and announce it. */
  answer(
    id: number,
    options: { readonly values: readonly number[]; readonly generation?: number; readonly header?: number },
  ) {
    const { values, generation = 1, header = generation } = options;
    const data = new Uint8Array(Float32Array.from(values).buffer);
    writeSync(this.transport.descriptors[1], Buffer.concat([slotHeader(header), data]), 0, 64 + data.length, 0);
    const tensor = { datatype: 'FP32' as const, shape: [values.length], offset: 64, bytes: data.length };
    const slot = { generation, slotOffset: 0, slotBytes: 64 + data.length, regionBytes: 2 ** 20 };
    return encodeBatch({ id, ...slot, released: 0, tensors: [tensor], numbers: [5, 6] });
  }

  [Symbol.dispose](): void {
    this.transport.close();
  }
}

function fp32(...parts: readonly (readonly number[])[]): OutgoingTensor {
  const bytes = parts.map((values) => new Uint8Array(Float32Array.from(values).buffer));
  return { datatype: 'FP32', shape: [parts.flat().length], parts: bytes };
}

describe('TensorTransport', () => {
  it('joins the parts of a tensor in shared memory, each tensor aligned', async () => {
    using subject = new Subject();
    const tensors = [fp32([1, 2], [3]), { datatype: 'UINT8' as const, shape: [1], parts: [Uint8Array.of(9)] }];
    const message = await subject.transport.write({ id: 1, tensors, numbers: [0, 2] });
    expect(subject.seen(message).map((data) => [...data])).toEqual([
      [...new Uint8Array(Float32Array.of(1, 2, 3).buffer)],
      [9],
    ]);
    const { tensors: places, numbers } = decodeBatch(message);
    expect(places.map(({ offset }) => offset % 64)).toEqual([0, 0]);
    expect(numbers).toEqual([0, 2]);
  });

  it('reads an answer and tells the child with the next batch that it did', async () => {
    using subject = new Subject();
    const first = await subject.transport.write({ id: 1, tensors: [fp32([1])], numbers: [] });
    const got = await subject.transport.read(subject.answer(1, { values: [7, 8], generation: 33 }));
    expect(got).toMatchObject({ id: 1, numbers: [5, 6] });
    expect(got.tensors[0]).toMatchObject({ datatype: 'FP32', shape: [2] });
    expect(got.tensors[0]?.data).toEqual(new Uint8Array(Float32Array.of(7, 8).buffer));
    const second = await subject.transport.write({ id: 2, tensors: [fp32([1])], numbers: [] });
    expect([first, second].map((message) => decodeBatch(message).released)).toEqual([0, 33]);
    expect(decodeBatch(second).slotOffset).toBe(decodeBatch(first).slotOffset);
  });

  it('keeps batches apart that are under way together', async () => {
    using subject = new Subject();
    const messages = await Promise.all(
      [1, 2, 3].map((id) => subject.transport.write({ id, tensors: [fp32([id, id])], numbers: [] })),
    );
    const seen = messages.map((message) => [...new Float32Array(subject.seen(message)[0]?.slice().buffer ?? [])]);
    expect(seen).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });

  it('refuses an answer that was overwritten', () => {
    using subject = new Subject();
    expect(() => subject.transport.read(subject.answer(1, { values: [1], generation: 4, header: 5 }))).toThrow(
      'the results of batch 1 were overwritten before they were read',
    );
  });

  it('grows for a batch that is larger than the region, up to its limit', async () => {
    using subject = new Subject({ initialBytes: 1024, maxBytes: 16_384 });
    await subject.transport.write({ id: 1, tensors: [fp32(Array(500).fill(1))], numbers: [] });
    expect(subject.transport.outgoingBytes).toBe(2112);
    const large = { tensors: [fp32(Array(4096).fill(1))], numbers: [] };
    expect(() => subject.transport.write({ id: 2, ...large })).toThrow(
      'the batch needs 18560 bytes of shared memory, at most 16384 are allowed; send less at once, or raise maxBytes',
    );
    const small = await subject.transport.write({ id: 3, tensors: [fp32([1])], numbers: [] });
    expect(decodeBatch(small).slotOffset).toBe(2112);
  });

  it('frees the slot of a batch that gets no answer', async () => {
    using subject = new Subject();
    const offsets: number[] = [];
    for (const id of [1, 2]) {
      offsets.push(decodeBatch(await subject.transport.write({ id, tensors: [fp32([1])], numbers: [] })).slotOffset);
      subject.transport.discard(id);
    }
    expect(offsets).toEqual([0, 0]);
  });
});
