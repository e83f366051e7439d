/** Connections that fail, as errors. */
import { ClientError } from './errors.ts';

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

/**
 * Of a call that brought no answer, or only a part of one.
 * @param known.isNotTaken  whether the caller knows that the server has not begun; otherwise the error tells
 */
export function connectionFailure(
  thrown: unknown,
  server: string,
  known: { readonly isNotTaken?: boolean } = {},
): ClientError {
  const { code, message } = failureOf(thrown);
  const isNotConnected = NOT_CONNECTED.has(code);
  return new ClientError({
    reason: 'connection',
    code: 'UNAVAILABLE',
    summary:
      code === 'ECONNREFUSED' || code === 'ConnectionRefused'
        ? `nothing listens at ${server}`
        : code === 'ENOTFOUND' || code === 'EAI_AGAIN'
          ? `the host of ${server} is unknown`
          : `the connection to ${server} failed: ${message}`,
    advice: isNotConnected
      ? 'is the server running, and the URL right?'
      : isOfBrowser(thrown)
        ? BROWSER_ADVICE
        : undefined,
    isNotTaken: isNotConnected || known.isNotTaken === true,
    cause: thrown,
  });
}

const BROWSER_ADVICE =
  'a browser does not say why: is the server running, and does it allow the origin of this page (--http-cors-origin of Nereid)?';

/** How `fetch` of a browser fails, whatever the reason; that of Node.js, Deno and Bun has a cause or a code. */
function isOfBrowser(thrown: unknown): boolean {
  return thrown instanceof TypeError && thrown.cause === undefined && !('code' in thrown);
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
