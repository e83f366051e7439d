/** The protocol over HTTP. Source: the KServe v2 protocol and Triton's extensions. */
import type { TraceSettingValues, WeightsReport } from '@nereid/core';
import {
  decodeInferResponse,
  type EncodedMessage,
  encodeInferRequest,
  latin1Bytes,
  type ModelMetadataDocument,
  type PlainJson,
  type ProtocolLimits,
  parseJson,
  type RepositoryIndexEntry,
  type ServerMetadata,
} from '@nereid/protocol';
import { Deadline } from '../deadline.ts';
import { ClientError, readAnswer, usageError } from '../errors.ts';
import { connectionFailure } from '../failure.ts';
import { assertSendable, type InferRequest, InferResult, parametersOf, wantedOf } from '../infer.ts';
import {
  addressOf,
  type CudaRegion,
  type CudaRegistration,
  type InferenceClient,
  type LoadModelOptions,
  type LogSettingValues,
  type ModelAddress,
  type ModelConfigDocument,
  type ModelStatistics,
  type RegionOptions,
  type SystemRegion,
  type TraceChanges,
  type TraceOptions,
  type UnloadModelOptions,
} from '../inference-client.ts';
import { type CallOptions, type CallSettings, type ClientOptions, type Compression, settingsOf } from '../options.ts';
import { type CallKind, withRetries } from '../retry.ts';
import { Sequence, type SequenceOptions } from '../sequence.ts';
import { compress } from './compress.ts';
import {
  readCudaRegions,
  readIndex,
  readLogSettings,
  readModelConfig,
  readModelMetadata,
  readServerMetadata,
  readStatistics,
  readSystemRegions,
  readTraceSettings,
} from './documents.ts';
import { eventData } from './events.ts';
import { errorOf, refusalOf } from './refusal.ts';
import { fetchTransport, type HttpReply, type HttpTransport } from './transport.ts';

export interface HttpClientOptions extends ClientOptions {
  /** Address of the server, with or without `http://`; a path in it stands before those of the protocol. */
  readonly url: string;
  /** How messages travel. Default: `fetchTransport()`. */
  readonly transport?: HttpTransport | undefined;
  /** Compression that the answers of inferences may come in. Default: none, but browsers ask for one on their own. */
  readonly responseCompression?: Compression | undefined;
  /** Bounds on JSON in answers. */
  readonly limits?: Partial<ProtocolLimits> | undefined;
}

export interface HttpInferOptions extends CallOptions {
  /** Whether tensors travel as JSON instead of binary data, both ways; FP16 and BF16 cannot. Default false. */
  readonly json?: boolean;
}

/** Inputs and parameters of `generate` by name: a value, or a flat list of them. */
export type GenerateValues = Readonly<Record<string, unknown>>;

/** What `generate` answers: outputs and parameters by name, beside `model_name` and `model_version`. */
export type GenerateAnswer = Readonly<Record<string, PlainJson>>;

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  /** From `/v2` on. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
  /** Whether the call leaves the server as it is, so that it may be repeated. Default: whether the method is GET. */
  readonly isRead?: boolean;
}

export interface HttpAnswer {
  header(name: string): string | undefined;
  readonly body: Uint8Array;
}

/** A body of an inference, or of its answer. */
export interface HttpInferBody {
  readonly bytes: Uint8Array;
  /** Bytes of the JSON in front; undefined when all of it is JSON. */
  readonly headerLength?: number | undefined;
}

const HEADER_LENGTH = 'inference-header-content-length';

/** Calls one server over HTTP. */
export class HttpClient implements InferenceClient {
  readonly #url: string;
  readonly #options: HttpClientOptions;
  readonly #transport: HttpTransport;

  /** @throws {ClientError} `usage` when the address is none */
  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#url = serverUrl(options.url);
    this.#transport = options.transport ?? fetchTransport();
  }

  isServerLive(options: CallOptions = {}): Promise<boolean> {
    return this.#health('/v2/health/live', options);
  }

  isServerReady(options: CallOptions = {}): Promise<boolean> {
    return this.#health('/v2/health/ready', options);
  }

  isModelReady(model: ModelAddress, options: CallOptions = {}): Promise<boolean> {
    return this.#health(`${modelPath(model)}/ready`, options);
  }

  serverMetadata(options: CallOptions = {}): Promise<ServerMetadata> {
    return this.#document({ method: 'GET', path: '/v2' }, { options, read: readServerMetadata });
  }

  modelMetadata(model: ModelAddress, options: CallOptions = {}): Promise<ModelMetadataDocument> {
    return this.#document({ method: 'GET', path: modelPath(model) }, { options, read: readModelMetadata });
  }

  modelConfig(model: ModelAddress, options: CallOptions = {}): Promise<ModelConfigDocument> {
    return this.#document({ method: 'GET', path: `${modelPath(model)}/config` }, { options, read: readModelConfig });
  }

  async infer(request: InferRequest, options: HttpInferOptions = {}): Promise<InferResult> {
    const message = encode(request, options);
    return this.decode(await this.#infer(request, { message, options }));
  }

  /** `infer` with a body that is made already; resolves with that of the answer, which `decode` reads. */
  inferRaw(
    target: { readonly model: string; readonly version?: string | undefined },
    { bytes, headerLength }: HttpInferBody,
    options: CallOptions = {},
  ): Promise<HttpInferBody> {
    return this.#infer(target, { message: { pieces: [bytes], headerLength }, options });
  }

  /** Reads the body of an answer. @throws {ClientError} `bad-answer` */
  decode({ bytes: body, headerLength }: HttpInferBody): InferResult {
    const { limits } = this.#options;
    return readAnswer(this.#url, () => {
      const { parameters = new Map(), ...rest } = decodeInferResponse({
        body,
        headerLength,
        ...(limits && { limits }),
      });
      return new InferResult({ ...rest, parameters });
    });
  }

  /** Requests that a stateful model sees as one sequence. */
  sequence(model: ModelAddress, options: SequenceOptions = {}): Sequence {
    return new Sequence(this, model, options);
  }

  /** Runs a model that answers exactly once, with values in place of tensors. */
  generate(model: ModelAddress, values: GenerateValues, options: CallOptions = {}): Promise<GenerateAnswer> {
    const request = { ...postJson(`${modelPath(model)}/generate`, values), isRead: false };
    return this.#document(request, { options, read: (document) => document as GenerateAnswer });
  }

  /**
   * Runs a model that answers any number of times, and gives each answer as it comes. The call begins with the first `next`. Whoever stops reading cancels it.
   * @throws {ClientError} from the iterator; a failure of the model after its first answer has the status of that answer, 200
   */
  async *generateStream(
    model: ModelAddress,
    values: GenerateValues,
    options: CallOptions = {},
  ): AsyncGenerator<GenerateAnswer, void, undefined> {
    const settings = { ...settingsOf(this.#options, options), timeoutMs: options.timeoutMs ?? 0 };
    const deadline = this.#deadline(settings);
    const request = postJson(`${modelPath(model)}/generate_stream`, values);
    try {
      const reply = await withRetries({ kind: 'act', retry: settings.retry, deadline }, () =>
        this.#send(request, { settings, deadline, isEvents: true }),
      );
      for await (const data of eventData(reply.chunks())) {
        const answer = readAnswer(this.#url, () => parseJson(data));
        const failure = isFailure(answer) ? errorOf(data) : undefined;
        if (failure !== undefined) throw streamFailure(reply.status, failure);
        yield answer as GenerateAnswer;
      }
      deadline.assertOpen();
    } catch (thrown) {
      throw thrown instanceof ClientError ? thrown : (deadline.error ?? connectionFailure(thrown, this.#url));
    } finally {
      deadline.close();
    }
  }

  statistics(
    options: CallOptions & { readonly model?: ModelAddress | undefined } = {},
  ): Promise<readonly ModelStatistics[]> {
    const { model } = options;
    const path = model === undefined ? '/v2/models/stats' : `${modelPath(model)}/stats`;
    return this.#document({ method: 'GET', path }, { options, read: readStatistics });
  }

  repositoryIndex(options: CallOptions & { readonly ready?: boolean } = {}): Promise<readonly RepositoryIndexEntry[]> {
    const request = { ...postJson('/v2/repository/index', { ready: options.ready ?? false }), isRead: true };
    return this.#document(request, { options, read: readIndex });
  }

  async loadModel(model: string, options: LoadModelOptions = {}): Promise<void> {
    const { config, files = {} } = options;
    const parameters = {
      ...(config !== undefined && { config }),
      ...Object.fromEntries(Object.entries(files).map(([path, bytes]) => [`file:${path}`, toBase64(bytes)])),
    };
    await this.request(postJson(`${repositoryPath(model)}/load`, { parameters }), options);
  }

  async unloadModel(model: string, options: UnloadModelOptions = {}): Promise<void> {
    const parameters = { unload_dependents: options.unloadDependents ?? false };
    await this.request(postJson(`${repositoryPath(model)}/unload`, { parameters }), options);
  }

  systemSharedMemoryStatus(options: RegionOptions = {}): Promise<readonly SystemRegion[]> {
    const path = `${memoryPath('system', options.name)}/status`;
    return this.#document({ method: 'GET', path }, { options, read: readSystemRegions });
  }

  async registerSystemSharedMemory(region: SystemRegion, options: CallOptions = {}): Promise<void> {
    const { name, key, offset, byteSize } = region;
    await this.request(
      postJson(`${memoryPath('system', name)}/register`, { key, offset, byte_size: byteSize }),
      options,
    );
  }

  async unregisterSystemSharedMemory(options: RegionOptions = {}): Promise<void> {
    await this.request({ method: 'POST', path: `${memoryPath('system', options.name)}/unregister` }, options);
  }

  cudaSharedMemoryStatus(options: RegionOptions = {}): Promise<readonly CudaRegion[]> {
    const path = `${memoryPath('cuda', options.name)}/status`;
    return this.#document({ method: 'GET', path }, { options, read: readCudaRegions });
  }

  async registerCudaSharedMemory(region: CudaRegistration, options: CallOptions = {}): Promise<void> {
    const { name, rawHandle, deviceId, byteSize } = region;
    const body = { raw_handle: { b64: toBase64(rawHandle) }, device_id: deviceId, byte_size: byteSize };
    await this.request(postJson(`${memoryPath('cuda', name)}/register`, body), options);
  }

  async unregisterCudaSharedMemory(options: RegionOptions = {}): Promise<void> {
    await this.request({ method: 'POST', path: `${memoryPath('cuda', options.name)}/unregister` }, options);
  }

  traceSettings(options: TraceOptions = {}): Promise<TraceSettingValues> {
    return this.#document({ method: 'GET', path: tracePath(options) }, { options, read: readTraceSettings });
  }

  updateTraceSettings(changes: TraceChanges, options: TraceOptions = {}): Promise<TraceSettingValues> {
    return this.#document(postJson(tracePath(options), changes), { options, read: readTraceSettings });
  }

  logSettings(options: CallOptions = {}): Promise<LogSettingValues> {
    return this.#document({ method: 'GET', path: '/v2/logging' }, { options, read: readLogSettings });
  }

  updateLogSettings(changes: LogSettingValues, options: CallOptions = {}): Promise<LogSettingValues> {
    return this.#document(postJson('/v2/logging', changes), { options, read: readLogSettings });
  }

  /** Exchanges a model's weights for those of a file in its directory on the server. An addition of Nereid to the protocol. */
  updateWeights(model: ModelAddress, file: string, options: CallOptions = {}): Promise<WeightsReport> {
    return this.#document(postJson(`${modelPath(model)}/weights`, { file }), {
      options,
      read: (document) => {
        const { updated, kept, ignored } = document as Readonly<Record<string, unknown>>;
        return { updated: strings(updated), kept: strings(kept), ignored: strings(ignored) };
      },
    });
  }

  /**
   * Any call, also those that are not of the protocol.
   * @throws {ClientError} `refused` for a status other than 200
   */
  async request(request: HttpRequest, options: CallOptions = {}): Promise<HttpAnswer> {
    const settings = settingsOf(this.#options, options);
    const deadline = this.#deadline(settings);
    const kind: CallKind = (request.isRead ?? request.method === 'GET') ? 'read' : 'act';
    try {
      return await withRetries({ kind, retry: settings.retry, deadline }, async () => {
        const reply = await this.#send(request, { settings, deadline });
        return { header: reply.header, body: await this.#during(deadline, () => reply.bytes()) };
      });
    } finally {
      deadline.close();
    }
  }

  async close(): Promise<void> {
    await this.#transport.close?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #health(path: string, options: CallOptions): Promise<boolean> {
    try {
      await this.request({ method: 'GET', path }, { ...options, retry: { ...options.retry } });
      return true;
    } catch (thrown) {
      if (thrown instanceof ClientError && isNotReady(thrown)) return false;
      throw thrown;
    }
  }

  async #document<T>(
    request: HttpRequest,
    { options, read }: { readonly options: CallOptions; readonly read: (document: PlainJson) => T },
  ): Promise<T> {
    const { body } = await this.request(request, options);
    return readAnswer(this.#url, () => read(parseJson(new TextDecoder().decode(body))));
  }

  async #infer(
    target: { readonly model: string; readonly version?: string | undefined },
    { message, options }: { readonly message: Outgoing; readonly options: CallOptions },
  ): Promise<HttpInferBody> {
    const { requestCompression, responseCompression } = this.#options;
    const { pieces, headerLength } = message;
    const headers = {
      'content-type': headerLength === undefined ? 'application/json' : 'application/octet-stream',
      ...(headerLength !== undefined && { [HEADER_LENGTH]: String(headerLength) }),
      ...(requestCompression && { 'content-encoding': requestCompression }),
      ...(responseCompression && { 'accept-encoding': responseCompression }),
    };
    const body = requestCompression === undefined ? pieces : [await compress(pieces, requestCompression)];
    const path = `${modelPath(target)}/infer`;
    const answer = await this.request({ method: 'POST', path, headers, body }, options);
    const length = answer.header(HEADER_LENGTH);
    return { bytes: answer.body, headerLength: length === undefined ? undefined : Number(length) };
  }

  /** One attempt; resolves with an answer of status 200. */
  async #send(
    request: HttpRequest,
    { settings, deadline, isEvents = false }: { settings: CallSettings; deadline: Deadline; isEvents?: boolean },
  ): Promise<HttpReply> {
    const { method, path, headers, body = [] } = request;
    const { signal } = deadline;
    const sent = { 'accept-encoding': 'identity', ...settings.headers, ...headers };
    return await this.#during(deadline, async () => {
      const reply = await this.#transport.send({ method, url: this.#url + path, headers: sent, body, signal });
      if (reply.status === 200) return reply;
      if (isEvents && reply.header('content-type')?.startsWith('text/event-stream')) throw await eventRefusal(reply);
      throw await refusalOf(reply, this.#url);
    });
  }

  /** Whatever goes wrong meanwhile is the deadline's error, or one of the connection. */
  async #during<T>(deadline: Deadline, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      if (deadline.error !== undefined) throw deadline.error;
      throw thrown instanceof ClientError ? thrown : connectionFailure(thrown, this.#url);
    }
  }

  #deadline({ timeoutMs, signal }: CallSettings): Deadline {
    return new Deadline({ timeoutMs, signal, server: this.#url });
  }
}

interface Outgoing {
  readonly pieces: readonly Uint8Array[];
  readonly headerLength: number | undefined;
}

function encode(request: InferRequest, { json = false }: HttpInferOptions): Outgoing {
  assertSendable(request);
  try {
    const { header, blobs, headerLength }: EncodedMessage = encodeInferRequest({
      ...(request.id !== undefined && { id: request.id }),
      inputs: request.inputs,
      outputs: (request.outputs ?? []).map(wantedOf),
      parameters: parametersOf(request),
      binary: !json,
    });
    return { pieces: [latin1Bytes(header), ...blobs], headerLength };
  } catch (thrown) {
    throw usageError(thrown instanceof Error ? thrown.message : String(thrown), thrown);
  }
}

/** `127.0.0.1:8000` → `http://127.0.0.1:8000`. */
function serverUrl(text: string): string {
  const withScheme = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:')
    return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  throw usageError(`'${text}' is no address of a server; give one like http://127.0.0.1:8000`);
}

/** Path of a model, or of one version of it, for `request`. */
export function modelPath(model: ModelAddress): string {
  const { model: name, version } = addressOf(model);
  return `/v2/models/${encodeURIComponent(name)}${version === '' ? '' : `/versions/${encodeURIComponent(version)}`}`;
}

function repositoryPath(model: string): string {
  return `/v2/repository/models/${encodeURIComponent(model)}`;
}

function memoryPath(kind: 'system' | 'cuda', name = ''): string {
  return `/v2/${kind}sharedmemory${name === '' ? '' : `/region/${encodeURIComponent(name)}`}`;
}

function tracePath({ model }: TraceOptions): string {
  return model === undefined ? '/v2/trace/setting' : `/v2/models/${encodeURIComponent(model)}/trace/setting`;
}

function postJson(path: string, body: object): HttpRequest {
  return {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: [new TextEncoder().encode(jsonText(body))],
  };
}

/** JSON with bigints as the integers that they are. */
function jsonText(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (ArrayBuffer.isView(value)) return jsonText(Array.from(value as unknown as ArrayLike<unknown>));
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{${members.map(([key, inner]) => `${JSON.stringify(key)}:${jsonText(inner)}`).join(',')}}`;
}

/** As many arguments as a call takes everywhere. */
const CHUNK = 8192;

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += CHUNK)
    text += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  return btoa(text);
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Answers of the protocol to whether something is ready, when it is not. */
function isNotReady({ reason, status }: ClientError): boolean {
  return reason === 'refused' && (status === 400 || status === 404 || status === 503);
}

/** An answer of a model has the model's name; a failure has not. */
function isFailure(answer: PlainJson): boolean {
  return typeof answer === 'object' && answer !== null && 'error' in answer && !('model_name' in answer);
}

/** The first answer of a stream is a failure: its status is that of the reply. */
async function eventRefusal(reply: HttpReply): Promise<ClientError> {
  for await (const data of eventData(reply.chunks())) {
    const refused = { ...reply, status: reply.status, bytes: async () => new TextEncoder().encode(data) };
    return await refusalOf(refused, 'the server');
  }
  return await refusalOf({ ...reply, status: reply.status, bytes: async () => new Uint8Array() }, 'the server');
}

function streamFailure(status: number, serverMessage: string): ClientError {
  return new ClientError({
    reason: 'refused',
    code: 'INTERNAL',
    status,
    serverMessage,
    summary: `the model failed in the middle of its answers: ${serverMessage}`,
  });
}
