/** Status codes of calls, and their texts. */
import { type ErrorCode, InferenceServerError, type Logger } from '@nereid/core';

/** Codes of gRPC that this server sends. */
export const STATUS = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const;

export interface CallStatus {
  readonly code: number;
  readonly message: string;
}

/** The one table from error codes to gRPC. Source: triton server `src/grpc/grpc_utils.cc`. */
const GRPC_STATUS: Readonly<Record<ErrorCode, number>> = {
  UNKNOWN: STATUS.UNKNOWN,
  INTERNAL: STATUS.INTERNAL,
  NOT_FOUND: STATUS.NOT_FOUND,
  INVALID_ARG: STATUS.INVALID_ARGUMENT,
  UNAVAILABLE: STATUS.UNAVAILABLE,
  UNSUPPORTED: STATUS.UNIMPLEMENTED,
  ALREADY_EXISTS: STATUS.ALREADY_EXISTS,
  CANCELLED: STATUS.CANCELLED,
};

/** What the client sees of a failure that is not its business. */
const BLAND_MESSAGE = "internal error; the server's log has the details";

/** Status of a failure. What was not thrown on purpose is logged whole and answered without detail. */
export function statusOf(thrown: unknown, logger: Logger): CallStatus {
  if (!(thrown instanceof InferenceServerError)) {
    logger.error({ err: thrown }, 'unexpected failure while answering a call');
    return { code: STATUS.INTERNAL, message: BLAND_MESSAGE };
  }
  if (thrown.code === 'INTERNAL') logger.error({ err: thrown }, 'a request failed inside the server');
  return { code: GRPC_STATUS[thrown.code], message: thrown.message };
}

/** Longest text of a status, in bytes before encoding: it travels in the trailers, whose size clients limit. */
const MAX_MESSAGE_BYTES = 4096;

/** Text of a status as header value: what is not printable ASCII, and the percent sign, percent-encoded byte by byte. */
export function encodeStatusMessage(message: string): string {
  const bytes = Buffer.from(message).subarray(0, MAX_MESSAGE_BYTES);
  let text = '';
  for (const byte of bytes) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    text += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}
