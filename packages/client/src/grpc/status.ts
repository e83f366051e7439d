/** Statuses of gRPC as errors. */
import type { ErrorCode } from '@nereid/core';
import { ClientError } from '../errors.ts';

export const OK = 0;
const DEADLINE_EXCEEDED = 4;

/** Names by number. Source: the gRPC specification. */
const NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

type StatusName = (typeof NAMES)[number];

/** Those that are not UNKNOWN. */
const CODES: Partial<Record<StatusName, ErrorCode>> = {
  CANCELLED: 'CANCELLED',
  INVALID_ARGUMENT: 'INVALID_ARG',
  DEADLINE_EXCEEDED: 'UNAVAILABLE',
  NOT_FOUND: 'NOT_FOUND',
  ALREADY_EXISTS: 'ALREADY_EXISTS',
  PERMISSION_DENIED: 'INVALID_ARG',
  RESOURCE_EXHAUSTED: 'INVALID_ARG',
  FAILED_PRECONDITION: 'INVALID_ARG',
  OUT_OF_RANGE: 'INVALID_ARG',
  UNIMPLEMENTED: 'UNSUPPORTED',
  INTERNAL: 'INTERNAL',
  UNAVAILABLE: 'UNAVAILABLE',
  DATA_LOSS: 'INTERNAL',
  UNAUTHENTICATED: 'INVALID_ARG',
};

const ADVICE: Partial<Record<StatusName, string>> = {
  PERMISSION_DENIED: 'give the key that it expects in headers',
  RESOURCE_EXHAUSTED: 'send less, or raise the limit of the server',
  UNAUTHENTICATED: 'give the key that it expects in headers',
};

export interface CallStatus {
  readonly status: number;
  /** As the server put it. */
  readonly message: string;
  /** How long the server asks to wait; undefined where it does not. */
  readonly retryAfterMs?: number | undefined;
}

/** Of a call that ended with a status other than OK. */
export function statusError({ status, message, retryAfterMs }: CallStatus): ClientError {
  const name = NAMES[status] ?? 'UNKNOWN';
  return new ClientError({
    reason: status === DEADLINE_EXCEEDED ? 'timeout' : 'refused',
    code: CODES[name] ?? 'UNKNOWN',
    status,
    serverMessage: message,
    summary: `the server answered ${name}: ${message}`,
    advice: ADVICE[name],
    // Who says when to come back has not begun.
    isNotTaken: retryAfterMs !== undefined,
    retryAfterMs,
  });
}

/** Text of a `grpc-message`, percent-encoded UTF-8; what cannot be decoded stays as it is. */
export function decodeStatusMessage(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
