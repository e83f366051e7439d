import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Output } from '../../src/http2/output.ts';

/** Two outputs with the other ends of their sockets. */
async function pair() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const open = async () => {
    const accepted = once(server, 'connection');
    const socket = connect(port, '127.0.0.1');
    const [far] = await accepted;
    const received: Buffer[] = [];
    far.on('data', (bytes: Buffer) => received.push(bytes));
    return { socket, output: new Output(socket), received, ended: once(far, 'end') };
  };
  const ends = [await open(), await open()];
  server.close();
  return ends;
}

describe('an output', () => {
  it('writes what it was given in its order, wherever its memory ends and whoever writes between', async () => {
    const ends = await pair();
    const expected: Buffer[][] = [[], []];
    let written = 0;
    for (let i = 0; i < 40_000; i++) {
      const which = i % 7 === 0 ? 1 : 0;
      const { output } = ends[which] as (typeof ends)[number];
      const bytes = Buffer.alloc(i % 5000 === 0 ? 9000 : i % 31, i % 256);
      output.head(bytes.length + 6, 1, 2, i);
      output.uint16(i);
      output.uint32(i);
      output.bytes(bytes);
      if (i % 5000 === 0) output.afterwards(() => written++);
      const head = Buffer.alloc(15);
      head.writeUIntBE(bytes.length + 6, 0, 3);
      head.writeUInt16BE(0x0102, 3);
      head.writeUInt32BE(i, 5);
      head.writeUInt16BE(i, 9);
      head.writeUInt32BE(i, 11);
      expected[which]?.push(head, bytes);
      if (i % 1000 === 0) for (const { output: each } of ends) each.flush();
    }
    for (const [i, { socket, output, received, ended }] of ends.entries()) {
      output.flush();
      socket.end();
      await ended;
      expect(Buffer.concat(received).equals(Buffer.concat(expected[i] ?? []))).toBe(true);
    }
    expect(written).toBe(8);
  });

  it('that is closed writes nothing, and gives everything back', async () => {
    const [end] = await pair();
    if (end === undefined) throw new Error('no pair');
    let written = 0;
    end.output.bytes(Buffer.alloc(10_000));
    end.output.afterwards(() => written++);
    end.output.close();
    end.output.head(4, 3, 0, 1);
    end.output.uint32(7);
    end.output.bytes(Buffer.alloc(10_000));
    end.output.afterwards(() => written++);
    end.output.flush();
    end.socket.end();
    await end.ended;
    expect([written, end.received.length]).toEqual([2, 0]);
  });
});
