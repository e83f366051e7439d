/** The calls of the v2 protocol that the page makes. */
import { type Body, headLength } from './infer-body.ts';

export interface TensorMetadata {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
}

export interface ModelMetadata {
  readonly name: string;
  readonly versions: readonly string[];
  readonly platform: string;
  readonly inputs: readonly TensorMetadata[];
  readonly outputs: readonly TensorMetadata[];
}

/** What the page reads of a configuration. */
export interface ModelConfig {
  readonly input?: readonly { readonly name: string; readonly optional?: boolean }[];
  readonly sequence_batching?: object;
  readonly model_transaction_policy?: { readonly decoupled?: boolean };
}

export interface IndexEntry {
  readonly name: string;
  readonly version?: string;
  readonly state?: string;
  readonly reason?: string;
}

export interface Reply {
  readonly status: number;
  /** The JSON of the answer. */
  readonly text: string;
  /** Tensors behind it; empty where all is JSON. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly milliseconds: number;
}

/** An answer that is no success; the message is what the server says. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface Call {
  readonly path: string;
  /** Posted; without one the call is a GET. */
  readonly body?: Body;
  readonly signal?: AbortSignal;
}

/** Headers that a person adds to every call, `name: value` a line. */
export type ExtraHeaders = () => readonly (readonly [string, string])[];

export class Server {
  readonly extraHeaders: ExtraHeaders;

  constructor(extraHeaders: ExtraHeaders) {
    this.extraHeaders = extraHeaders;
  }

  /** The answer whatever its status. @throws {TypeError} when there is none */
  async call(call: Call): Promise<Reply> {
    const start = performance.now();
    const response = await this.#send(call);
    const all = new Uint8Array(await response.arrayBuffer());
    const length = Number(response.headers.get(HEAD_LENGTH) ?? all.length);
    const text = new TextDecoder().decode(all.subarray(0, length));
    return { status: response.status, text, bytes: all.subarray(length), milliseconds: performance.now() - start };
  }

  /** The document of an answer. @throws {Refusal} for a status that is no success; as `call` does */
  async document<T>(call: Call): Promise<T> {
    const { status, text } = await this.call(call);
    if (status !== 200) throw new Refusal(status, errorOf(text));
    return JSON.parse(text) as T;
  }

  /**
   * The events of a stream as they come, each the text behind `data: `.
   * @throws {Refusal} for an answer that is no stream of events; as `call` does
   */
  async *events(call: Call): AsyncGenerator<string, void> {
    const response = await this.#send(call);
    if (response.body === null || !response.headers.get('content-type')?.startsWith('text/event-stream'))
      throw new Refusal(response.status, errorOf(await response.text()));
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let waiting = '';
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const events = (waiting + piece.value).split('\n\n');
      waiting = events.pop() ?? '';
      for (const event of events) yield event.replace(/^data: ?/gm, '');
    }
  }

  #send({ path, body, signal }: Call): Promise<Response> {
    const headers = [...this.extraHeaders()];
    if (body !== undefined) headers.push(...bodyHeaders(body));
    return fetch(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: headers.map(([name, value]) => [name, value]),
      ...(body !== undefined && { body: new Blob([body.head, ...body.blobs]) }),
      ...(signal !== undefined && { signal }),
    });
  }
}

const HEAD_LENGTH = 'inference-header-content-length';

/** A body that is JSON and nothing else. */
export const jsonBody = (head: string): Body => ({ head, blobs: [] });

/** What a server is told of a body. */
export function bodyHeaders(body: Body): readonly (readonly [string, string])[] {
  const length = headLength(body);
  if (length === undefined) return [['content-type', 'application/json']];
  return [
    ['content-type', 'application/octet-stream'],
    [HEAD_LENGTH, String(length)],
  ];
}

/** Path of a model, and of a version when one is named. */
export function modelPath(name: string, version: string): string {
  const model = `/v2/models/${encodeURIComponent(name)}`;
  return version === '' ? model : `${model}/versions/${encodeURIComponent(version)}`;
}

/** What an answer says went wrong: its `error`, or the whole of it. */
export function errorOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    if (typeof error === 'string') return error;
  } catch {
    // Not JSON: shown as it is.
  }
  return text === '' ? 'the server gave no reason' : text;
}

/** What to tell of a failure. */
export function describe(thrown: unknown): string {
  if (thrown instanceof Refusal) return `${thrown.status}: ${thrown.message}`;
  if (thrown instanceof DOMException && thrown.name === 'AbortError') return 'stopped';
  return `no answer: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
}
