/** Error codes of HTTP/2. Source: RFC 9113, 7. */
export const H2 = {
  NO_ERROR: 0x0,
  PROTOCOL_ERROR: 0x1,
  INTERNAL_ERROR: 0x2,
  FLOW_CONTROL_ERROR: 0x3,
  STREAM_CLOSED: 0x5,
  FRAME_SIZE_ERROR: 0x6,
  REFUSED_STREAM: 0x7,
  CANCEL: 0x8,
  COMPRESSION_ERROR: 0x9,
  ENHANCE_YOUR_CALM: 0xb,
} as const;

/** The client broke a rule that the whole connection rests on, or costs too much: the connection ends. The message is for the client. */
export class ConnectionFault extends Error {
  override readonly name = 'ConnectionFault';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The client broke a rule of one stream, which ends; the others go on. */
export class StreamFault extends Error {
  override readonly name = 'StreamFault';
  readonly streamId: number;
  readonly code: number;

  constructor(streamId: number, code: number, message: string) {
    super(message);
    this.streamId = streamId;
    this.code = code;
  }
}

/** The client costs too much. */
export function tooMuch(what: string): ConnectionFault {
  return new ConnectionFault(H2.ENHANCE_YOUR_CALM, `too many ${what}`);
}
