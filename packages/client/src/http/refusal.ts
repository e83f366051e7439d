/** From what went wrong with an exchange to a `ClientError`. */
import type { ErrorCode } from '@nereid/core';
import { ClientError } from '../errors.ts';
import type { HttpReply } from './transport.ts';

/** Statuses with a meaning of their own; of the others the hundreds decide. Source: triton server `HttpCodeFromError`. */
const CODES: ReadonlyMap<number, ErrorCode> = new Map([
  [404, 'NOT_FOUND'],
  [429, 'UNAVAILABLE'],
  [499, 'CANCELLED'],
  [501, 'UNSUPPORTED'],
  [502, 'UNAVAILABLE'],
  [503, 'UNAVAILABLE'],
  [504, 'UNAVAILABLE'],
]);

const ADVICE: ReadonlyMap<number, string> = new Map([
  [401, 'give the key that it expects in headers'],
  [403, 'give the key that it expects in headers'],
  [413, 'send less, or raise the limit of the server'],
  [429, 'try again later'],
  [503, 'try again later'],
]);

function codeOf(status: number): ErrorCode {
  return CODES.get(status) ?? (status >= 500 ? 'INTERNAL' : status >= 400 ? 'INVALID_ARG' : 'UNKNOWN');
}

/** Of an answer other than 200. */
export async function refusalOf(reply: HttpReply, server: string): Promise<ClientError> {
  const { status } = reply;
  const text = new TextDecoder().decode(await reply.bytes()).trim();
  const serverMessage = errorOf(text);
  const retryAfterMs = retryAfterOf(reply.header('retry-after'));
  const isOfProtocol = serverMessage !== undefined;
  const excerpt = text.slice(0, 200);
  return new ClientError({
    reason: 'refused',
    code: codeOf(status),
    status,
    serverMessage: serverMessage ?? (text === '' ? undefined : text),
    summary: isOfProtocol
      ? `the server answered ${status}: ${serverMessage}`
      : `${server} answered ${status}${excerpt === '' ? '' : `: ${excerpt}`}`,
    advice: isOfProtocol ? ADVICE.get(status) : 'is it a server of the v2 inference protocol?',
    // Who says when to come back has not begun.
    isNotTaken: (status === 429 || status === 503) && retryAfterMs !== undefined,
    retryAfterMs,
  });
}

/** Text of `{"error": …}`; undefined for anything else. */
export function errorOf(text: string): string | undefined {
  try {
    const document: unknown = JSON.parse(text);
    if (typeof document !== 'object' || document === null || !('error' in document)) return undefined;
    return typeof document.error === 'string' ? document.error : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds or a date; undefined for neither. */
function retryAfterOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const delayMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(delayMs) ? undefined : Math.max(delayMs, 0);
}

/** Codes of Node, also of Deno and Bun, for a connection that was never made. */
const NOT_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Of an exchange that brought no answer, or only a part of one. */
export function connectionFailure(thrown: unknown, server: string): ClientError {
  const { code, message } = failureOf(thrown);
  return new ClientError({
    reason: 'connection',
    code: 'UNAVAILABLE',
    summary:
      code === 'ECONNREFUSED' || code === 'ConnectionRefused'
        ? `nothing listens at ${server}`
        : code === 'ENOTFOUND' || code === 'EAI_AGAIN'
          ? `the host of ${server} is unknown`
          : `the connection to ${server} failed: ${message}`,
    advice: NOT_CONNECTED.has(code) ? 'is the server running, and the URL right?' : undefined,
    isNotTaken: NOT_CONNECTED.has(code),
    cause: thrown,
  });
}

interface Failure {
  readonly code: unknown;
  readonly message: string;
}

/** The innermost error, which knows the most. A name with several addresses fails with one for each; the first stands for them. */
function failureOf(thrown: unknown): Failure {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return failureOf(thrown.errors[0]);
  if (!(thrown instanceof Error)) return { code: undefined, message: String(thrown) };
  if (thrown.cause instanceof Error) return failureOf(thrown.cause);
  return { code: 'code' in thrown ? thrown.code : undefined, message: thrown.message };
}
