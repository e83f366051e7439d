/** Answers that are not inference: a status, a content type, a text. */
import { InferenceServerError, type Logger } from '@nereid/core';
import { encodeError } from '@nereid/protocol';
import { HttpError } from './errors.ts';
import type { DocsPage } from './options.ts';
import { HTTP_STATUS } from './status.ts';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** Further headers by their names. */
  readonly headers?: Readonly<Record<string, string>>;
}

const JSON_TYPE = 'application/json';

/** What the client sees of a failure that is not its business. */
const BLAND_MESSAGE = "internal error; the server's log has the details";

export function jsonAnswer(body: string): Answer {
  return { status: 200, contentType: JSON_TYPE, body };
}

/** A page that no other site may frame, that is taken for nothing but HTML, and that tells no other site where it was. */
export function pageAnswer({ html, contentSecurityPolicy }: DocsPage): Answer {
  const headers = {
    'content-security-policy': contentSecurityPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
  };
  return { status: 200, contentType: 'text/html; charset=utf-8', body: html, headers };
}

/** Health: 200 or 400, never a body. */
export function healthAnswer(isHealthy: boolean): Answer {
  return { status: isHealthy ? 200 : 400, contentType: 'text/plain', body: '' };
}

export function errorAnswer(status: number, message: string): Answer {
  return { status, contentType: JSON_TYPE, body: encodeError(message) };
}

export function notFoundAnswer(): Answer {
  return errorAnswer(404, 'Not Found');
}

export function methodNotAllowedAnswer(allow: string): Answer {
  return { ...errorAnswer(405, 'Method Not Allowed'), headers: { allow } };
}

/** The answer to a failure. What was not thrown on purpose is logged whole and answered without detail; so is its stack. */
export function failureAnswer(thrown: unknown, logger: Logger): Answer {
  const { status, message } = describeFailure(thrown, logger);
  return errorAnswer(status, message);
}

/** Status and text of a failure, logged as `failureAnswer` says. INTERNAL failures of models are logged too, and shown. */
export function describeFailure(
  thrown: unknown,
  logger: Logger,
): { readonly status: number; readonly message: string } {
  if (!(thrown instanceof InferenceServerError)) {
    logger.error({ err: thrown }, 'unexpected failure while answering a request');
    return { status: HTTP_STATUS.INTERNAL, message: BLAND_MESSAGE };
  }
  if (thrown instanceof HttpError && thrown.reason === 'restricted') return { status: 403, message: thrown.message };
  if (thrown.code === 'INTERNAL') logger.error({ err: thrown }, 'a request failed inside the server');
  return { status: HTTP_STATUS[thrown.code], message: thrown.message };
}
