/** The few calls of the v2 protocol that a single inference takes. */
import { type Datatype, isDatatype, type Shape, type WeightsReport } from '@nereid/core';
import type { EncodedMessage } from '@nereid/protocol';
import { CliError } from '../errors.ts';
import { type Exchange, exchange, type Reply } from './exchange.ts';

export interface TensorMetadata {
  readonly name: string;
  readonly datatype: Datatype;
  /** −1 for a variable size; batching models have one in front. */
  readonly shape: Shape;
}

export interface ModelMetadata {
  readonly inputs: readonly TensorMetadata[];
  readonly outputs: readonly TensorMetadata[];
}

export interface ClientOptions {
  /** Address of the server, with or without `http://`. */
  readonly url: string;
  readonly model: string;
  /** The latest when absent. */
  readonly version?: string | undefined;
  readonly timeoutMs: number;
}

export interface InferAnswer {
  readonly body: Buffer;
  /** Length of the JSON part when binary tensors follow it. */
  readonly headerLength: number | undefined;
}

const HEADER_LENGTH = 'inference-header-content-length';

/** Calls one model of one server. */
export class ModelClient {
  readonly #options: ClientOptions;
  readonly #server: string;
  readonly #model: string;

  /** @throws {CliError} `usage` when the address is none */
  constructor(options: ClientOptions) {
    const { model, version } = options;
    this.#options = options;
    this.#server = serverUrl(options.url);
    this.#model = `/v2/models/${encodeURIComponent(model)}${version === undefined ? '' : `/versions/${version}`}`;
  }

  /** @throws {CliError} `connection` without an answer; `server` with the server's own message */
  async metadata(): Promise<ModelMetadata> {
    const { body } = await this.#call(this.#model, { method: 'GET' });
    const document = asObject(parse(body.toString('utf8')));
    return { inputs: tensors(document?.inputs), outputs: tensors(document?.outputs) };
  }

  /** @throws {CliError} as `metadata` */
  infer(message: EncodedMessage | Buffer): Promise<InferAnswer> {
    const isWhole = message instanceof Uint8Array;
    const body = isWhole ? message : Buffer.concat([Buffer.from(message.header, 'latin1'), ...message.blobs]);
    const length = isWhole ? undefined : message.headerLength;
    return this.#call(`${this.#model}/infer`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...(length !== undefined && { [HEADER_LENGTH]: String(length) }) },
    });
  }

  /** Exchanges the model's weights for those of a file in its directory on the server; see `metadata`. */
  async updateWeights(file: string): Promise<WeightsReport> {
    const { body } = await this.#call(`${this.#model}/weights`, {
      method: 'POST',
      body: Buffer.from(JSON.stringify({ file })),
      headers: { 'content-type': 'application/json' },
    });
    const report = asObject(parse(body.toString('utf8'))) ?? {};
    return { updated: strings(report.updated), kept: strings(report.kept), ignored: strings(report.ignored) };
  }

  async #call(path: string, request: Omit<Exchange, 'timeoutMs'>): Promise<InferAnswer> {
    const { status, headers, body } = await this.#exchange(path, request);
    if (status !== 200) throw refusal(status, body.toString('utf8'), this.#server);
    const length = headers[HEADER_LENGTH];
    return { body, headerLength: length === undefined ? undefined : Number(length) };
  }

  async #exchange(path: string, request: Omit<Exchange, 'timeoutMs'>): Promise<Reply> {
    const { timeoutMs } = this.#options;
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
  const message = asObject(parse(body))?.error;
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}

/** @throws {CliError} `server` when the metadata is not what the protocol says */
function tensors(value: unknown): readonly TensorMetadata[] {
  if (Array.isArray(value)) return value.map(tensor);
  throw new CliError(
    'server',
    'the answer of the server is no metadata of a model; is it a server of the v2 inference protocol?',
  );
}

function tensor(value: unknown): TensorMetadata {
  const { name, datatype, shape } = asObject(value) ?? {};
  if (typeof name === 'string' && typeof datatype === 'string' && isDatatype(datatype) && Array.isArray(shape)) {
    return { name, datatype, shape: shape.map(Number) };
  }
  throw new CliError('server', `the server describes a tensor that is unknown here: ${JSON.stringify(value)}`);
}
