/** What a frame may be before its contents are looked at. Source: RFC 9113, 4.2 and the sections of 6. */
import { ConnectionFault, H2, tooMuch } from './faults.ts';
import { FLAG, FRAME, type FrameHead } from './frames.ts';

/** Bytes of the contents of a PING. */
export const PING_BYTES = 8;
const SETTING_BYTES = 6;
const MAX_SETTINGS_BYTES = SETTING_BYTES * 128;

/** Frames of a known size. */
const SIZES: ReadonlyMap<number, number> = new Map([
  [FRAME.priority, 5],
  [FRAME.rstStream, 4],
  [FRAME.ping, PING_BYTES],
  [FRAME.windowUpdate, 4],
]);

/** @throws {ConnectionFault} FRAME_SIZE_ERROR, PROTOCOL_ERROR for what only a server sends, ENHANCE_YOUR_CALM */
export function assertSize({ type, flags, length }: FrameHead, maxFrameBytes: number): void {
  if (length > maxFrameBytes)
    throw new ConnectionFault(H2.FRAME_SIZE_ERROR, `a frame may have ${maxFrameBytes} bytes, this one has ${length}`);
  const size = SIZES.get(type);
  if (size !== undefined && size !== length)
    throw new ConnectionFault(H2.FRAME_SIZE_ERROR, `a frame of type ${type} has ${size} bytes, this one has ${length}`);
  if (type === FRAME.pushPromise) throw new ConnectionFault(H2.PROTOCOL_ERROR, 'a client cannot push');
  if (type === FRAME.goAway && length < 8)
    throw new ConnectionFault(H2.FRAME_SIZE_ERROR, `a frame of GOAWAY has 8 bytes or more, this one has ${length}`);
  if (type !== FRAME.settings) return;
  if (length % SETTING_BYTES !== 0 || ((flags & FLAG.ack) !== 0 && length > 0))
    throw new ConnectionFault(H2.FRAME_SIZE_ERROR, `a frame of SETTINGS cannot have ${length} bytes`);
  if (length > MAX_SETTINGS_BYTES) throw tooMuch('settings');
}

/**
 * @param lastStreamId  highest stream that the client opened
 * @throws {ConnectionFault} PROTOCOL_ERROR for a frame on a stream that it cannot be of
 */
export function assertStreamOf({ type, streamId }: FrameHead, lastStreamId: number): void {
  if (type > FRAME.continuation) return;
  const isOfConnection = type === FRAME.settings || type === FRAME.ping || type === FRAME.goAway;
  if (isOfConnection !== (streamId === 0) && type !== FRAME.windowUpdate)
    throw new ConnectionFault(H2.PROTOCOL_ERROR, `a frame of type ${type} cannot be of stream ${streamId}`);
  const opens = type === FRAME.headers || type === FRAME.priority || type === FRAME.continuation;
  if (!opens && streamId > lastStreamId)
    throw new ConnectionFault(H2.PROTOCOL_ERROR, `stream ${streamId} has not begun`);
}
