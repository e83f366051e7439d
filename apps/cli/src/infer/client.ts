/** The few calls of the v2 protocol that a single inference takes. */
import { type Datatype, isDatatype, type Shape, type WeightsReport } from '@nereid/core';
import type { EncodedMessage } from '@nereid/protocol';
import { CliError } from '../errors.ts';
import { asObject, parseDocument } from './document.ts';
import { type ServerAddress, ServerClient } from './server-client.ts';

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

export interface ClientOptions extends ServerAddress {
  readonly model: string;
  /** The latest when absent. */
  readonly version?: string | undefined;
}

export interface InferAnswer {
  readonly body: Buffer;
  /** Length of the JSON part when binary tensors follow it. */
  readonly headerLength: number | undefined;
}

const HEADER_LENGTH = 'inference-header-content-length';

/** Calls one model of one server. */
export class ModelClient {
  readonly #server: ServerClient;
  readonly #model: string;

  /** @throws {CliError} `usage` when the address is none */
  constructor(options: ClientOptions) {
    this.#server = new ServerClient(options);
    this.#model = modelPath(options);
  }

  /** @throws {CliError} `connection` without an answer; `server` with the server's own message */
  async metadata(): Promise<ModelMetadata> {
    const { body } = await this.#server.call(this.#model, { method: 'GET' });
    const document = asObject(parseDocument(body.toString('utf8')));
    return { inputs: tensors(document?.inputs), outputs: tensors(document?.outputs) };
  }

  /** @throws {CliError} as `metadata` */
  async infer(message: EncodedMessage | Buffer): Promise<InferAnswer> {
    const isWhole = message instanceof Uint8Array;
    const body = isWhole ? message : Buffer.concat([Buffer.from(message.header, 'latin1'), ...message.blobs]);
    const length = isWhole ? undefined : message.headerLength;
    const answer = await this.#server.call(`${this.#model}/infer`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...(length !== undefined && { [HEADER_LENGTH]: String(length) }) },
    });
    const answered = answer.headers[HEADER_LENGTH];
    return { body: answer.body, headerLength: answered === undefined ? undefined : Number(answered) };
  }

  /** Exchanges the model's weights for those of a file in its directory on the server; see `metadata`. */
  async updateWeights(file: string): Promise<WeightsReport> {
    const { body } = await this.#server.call(`${this.#model}/weights`, {
      method: 'POST',
      body: Buffer.from(JSON.stringify({ file })),
      headers: { 'content-type': 'application/json' },
    });
    const report = asObject(parseDocument(body.toString('utf8'))) ?? {};
    return { updated: strings(report.updated), kept: strings(report.kept), ignored: strings(report.ignored) };
  }
}

/** Path of a model, or of one version of it. */
export function modelPath({ model, version }: Pick<ClientOptions, 'model' | 'version'>): string {
  return `/v2/models/${encodeURIComponent(model)}${version === undefined ? '' : `/versions/${version}`}`;
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
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
