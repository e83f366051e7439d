/** A client of HTTP/2 that sends what it is told, right or wrong, and tells what it gets. */
import { connect, type Socket } from 'node:net';
import { HpackDecoder } from '../../src/http2/hpack/decoder.ts';

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;
export const END_STREAM = 0x1;
export const ACK = 0x1;
export const END_HEADERS = 0x4;
export const PADDED = 0x8;
export const PRIORITY = 0x20;

const HEAD_BYTES = 9;

export function frame(type: number, flags: number, streamId: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(streamId, 5);
  bytes.set(payload, HEAD_BYTES);
  return bytes;
}

export function uint32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, i * 4);
  return bytes;
}

export function settings(...entries: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = entries.map(([id, value]) => Buffer.concat([Buffer.of(0, id), uint32(value)]));
  return frame(TYPE.settings, 0, 0, Buffer.concat(payload));
}

/** Fields as literals that are never indexed, so that blocks do not depend on each other. */
export function block(fields: readonly (readonly [string, string])[]): Buffer {
  const text = (value: string) => {
    const bytes = Buffer.from(value, 'latin1');
    const length = bytes.length < 127 ? [bytes.length] : [127, ...varint(bytes.length - 127)];
    return Buffer.concat([Buffer.from(length), bytes]);
  };
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0x10), text(name), text(value)]));
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export class RawClient {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  readonly #decoder = new HpackDecoder();
  /** Headers of answers in the order they came. */
  readonly headers: { readonly streamId: number; readonly fields: Record<string, string> }[] = [];
  #rest = Buffer.alloc(0);
  #isClosed = false;
  #changed: () => void = () => {};

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.#isClosed = true;
      this.#changed();
    });
    this.socket.on('data', (bytes: Buffer) => this.#read(bytes));
  }

  /** Past the preface and its settings. */
  static open(port: number, ...entries: readonly (readonly [id: number, value: number])[]): RawClient {
    const client = new RawClient(port);
    client.send(PREFACE, settings(...entries), frame(TYPE.settings, ACK, 0));
    return client;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(...frames: readonly Uint8Array[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  /** The first frame that matches, once it is there; undefined when the connection closed without. */
  async find(matches: (frame: Frame) => boolean): Promise<Frame | undefined> {
    for (;;) {
      const found = this.frames.find(matches);
      if (found !== undefined || this.#isClosed) return found;
      await this.#change();
    }
  }

  /** Resolves when it holds; fails when the connection closes before. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.#isClosed) throw new Error('the connection closed');
      await this.#change();
    }
  }

  async closed(): Promise<void> {
    while (!this.#isClosed) await this.#change();
  }

  /** Code of the GOAWAY that ends the connection; undefined when it closed without. */
  async goAway(): Promise<number | undefined> {
    const found = await this.find(({ type }) => type === TYPE.goAway);
    return found?.payload.readUInt32BE(4);
  }

  /** Code of the reset of a stream. */
  async reset(streamId: number): Promise<number | undefined> {
    const found = await this.find((frame) => frame.type === TYPE.rstStream && frame.streamId === streamId);
    return found?.payload.readUInt32BE(0);
  }

  /** The whole answer on a stream. */
  async answer(streamId: number): Promise<{ readonly fields: Record<string, string>; readonly body: Buffer }> {
    const ofStream = (frame: Frame) => frame.streamId === streamId;
    const last = await this.find((frame) => ofStream(frame) && isLast(frame));
    if (last === undefined) throw new Error(`stream ${streamId} was not answered`);
    const fields = Object.assign(
      {},
      ...this.headers.filter((list) => list.streamId === streamId).map(({ fields }) => fields),
    );
    return { fields, body: this.body(streamId) };
  }

  /** What has come of the body. */
  body(streamId: number): Buffer {
    return Buffer.concat(
      this.frames
        .filter((frame) => frame.streamId === streamId && frame.type === TYPE.data)
        .map(({ payload }) => payload),
    );
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#changed = resolve;
    });
  }

  #read(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= HEAD_BYTES) {
      const length = this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < HEAD_BYTES + length) break;
      const [type = 0, flags = 0] = this.#rest.subarray(3, 5);
      const streamId = this.#rest.readUInt32BE(5);
      const payload = Buffer.from(this.#rest.subarray(HEAD_BYTES, HEAD_BYTES + length));
      this.#rest = this.#rest.subarray(HEAD_BYTES + length);
      this.frames.push({ type, flags, streamId, payload });
      if (type === TYPE.headers) this.#decode(streamId, payload);
    }
    this.#changed();
  }

  #decode(streamId: number, payload: Buffer): void {
    const fields: Record<string, string> = {};
    this.#decoder.decode(payload, (name, value) => {
      fields[name] = value;
    });
    this.headers.push({ streamId, fields });
  }
}

const isLast = ({ type, flags }: Frame) => (type === TYPE.headers || type === TYPE.data) && (flags & END_STREAM) !== 0;
