import { CliError } from '../errors.ts';
import { asObject, parseDocument } from './document.ts';
import { type Exchange, exchange, type Reply } from './exchange.ts';

export interface ServerAddress {
  /** Address of the server, with or without `http://`. */
  readonly url: string;
  readonly timeoutMs: number;
}

/** Calls one server, and says in words why that fails. */
export class ServerClient {
  readonly #timeoutMs: number;
  readonly #server: string;

  /** @throws {CliError} `usage` when the address is none */
  constructor({ url, timeoutMs }: ServerAddress) {
    this.#server = serverUrl(url);
    this.#timeoutMs = timeoutMs;
  }

  /** @throws {CliError} `connection` without an answer; `server` with the server's own message unless the status is 200 */
  async call(path: string, request: Omit<Exchange, 'timeoutMs'>): Promise<Reply> {
    const reply = await this.#exchange(path, request);
    if (reply.status !== 200) throw refusal(reply.status, reply.body.toString('utf8'), this.#server);
    return reply;
  }

  async #exchange(path: string, request: Omit<Exchange, 'timeoutMs'>): Promise<Reply> {
    const timeoutMs = this.#timeoutMs;
    try {
      return await exchange(this.#server + path, { ...request, timeoutMs });
    } catch (thrown) {
      throw new CliError('connection', connectionProblem(thrown, { server: this.#server, timeoutMs }), {
        cause: thrown,
      });
    }
  }
}

/** `127.0.0.1:8000` → `http://127.0.0.1:8000`. */
function serverUrl(text: string): string {
  const withScheme = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:')
    return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  throw new CliError('usage', `--url '${text}' is no address; give one like http://127.0.0.1:8000`);
}

function refusal(status: number, body: string, server: string): CliError {
  const message = asObject(parseDocument(body))?.error;
  if (typeof message === 'string') return new CliError('server', `the server answered ${status}: ${message}`);
  const excerpt = body.trim().slice(0, 200);
  return new CliError(
    'server',
    `${server} answered ${status}${excerpt === '' ? '' : `: ${excerpt}`}; is it a server of the v2 inference protocol?`,
  );
}

function connectionProblem(thrown: unknown, { server, timeoutMs }: { server: string; timeoutMs: number }): string {
  const { code, name, message } = failureOf(thrown);
  if (code === 'ECONNREFUSED') {
    return `nothing listens at ${server}; start a server with nereid serve --model-repository DIR, or name another with --url`;
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host of ${server} is unknown; check --url`;
  if (name === 'AbortError') {
    return `no answer from ${server} within ${timeoutMs / 1000} s; --timeout SECONDS waits longer`;
  }
  return `the connection to ${server} failed: ${message}`;
}

/** A name with several addresses fails with one error for each; the first stands for them. */
function failureOf(thrown: unknown): { readonly code?: unknown; readonly name: string; readonly message: string } {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return failureOf(thrown.errors[0]);
  return thrown instanceof Error ? thrown : { name: '', message: String(thrown) };
}
