/** Frames: nine bytes of head (length 24 bits, type 8, flags 8, stream 31), then their payload. Source: RFC 9113, 4 and 6. */

export const FRAME = {
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

export const FLAG = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

export const HEAD_BYTES = 9;
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** What every peer starts with. */
export const DEFAULT_WINDOW = 65_535;
export const DEFAULT_FRAME_BYTES = 16_384;
export const LARGEST_WINDOW = 2 ** 31 - 1;
export const LARGEST_FRAME_BYTES = 2 ** 24 - 1;

export interface FrameHead {
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
}

export function readHead(bytes: Buffer, at: number): FrameHead {
  return {
    length: bytes.readUIntBE(at, 3),
    type: bytes[at + 3] ?? 0,
    flags: bytes[at + 4] ?? 0,
    streamId: bytes.readUInt32BE(at + 5) & 0x7fff_ffff,
  };
}
