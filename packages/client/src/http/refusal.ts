/** Answers other than 200 as errors. */
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
