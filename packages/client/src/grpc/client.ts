/** The protocol over gRPC, for Node.js. */
import type { TraceSettingValues } from '@nereid/core';
import { messageType } from '@nereid/grpc/messages';
import type { ModelMetadataDocument, RepositoryIndexEntry, ServerMetadata } from '@nereid/protocol';
import { Deadline } from '../deadline.ts';
import { ClientError, readAnswer } from '../errors.ts';
import { assertSendable, type InferRequest, type InferResult } from '../infer.ts';
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
import { type CallOptions, type CallSettings, type ClientOptions, settingsOf } from '../options.ts';
import { type CallKind, withRetries } from '../retry.ts';
import { Sequence, type SequenceOptions } from '../sequence.ts';
import { Call, type CallInit, type Message } from './call.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import {
  cudaRegions,
  index,
  logChanges,
  logSettings,
  modelConfig,
  modelMetadata,
  type Plain,
  serverMetadata,
  statistics,
  systemRegions,
  traceChanges,
  traceSettings,
} from './documents.ts';
import { decodeResponse, encodeRequest } from './infer-messages.ts';
import { InferStream } from './infer-stream.ts';

export interface GrpcClientOptions extends ClientOptions, ConnectionOptions {
  /** Bytes of one message of an answer, also after it is inflated. Default 2 GiB − 1. */
  readonly maxMessageBytes?: number | undefined;
}

const SERVICE = '/inference.GRPCInferenceService';
const MAX_MESSAGE_BYTES = 2 ** 31 - 1;

interface Unary<T> {
  readonly rpc: string;
  readonly message: Message;
  readonly kind: CallKind;
  readonly options: CallOptions;
  readonly read: (bytes: Buffer) => T;
}

interface PlainCall<T> {
  readonly request?: Plain;
  readonly kind?: CallKind;
  readonly options: CallOptions;
  readonly read: (answer: Plain) => T;
}

/** Calls one server over gRPC, all calls on one connection. */
export class GrpcClient implements InferenceClient {
  readonly #options: GrpcClientOptions;
  readonly #connection: Connection;

  /** @throws {ClientError} `usage` when the address is none */
  constructor(options: GrpcClientOptions) {
    this.#options = options;
    this.#connection = new Connection(options);
  }

  isServerLive(options: CallOptions = {}): Promise<boolean> {
    return unlessRefused(this.#plain('ServerLive', { options, read: ({ live }) => live === true }));
  }

  isServerReady(options: CallOptions = {}): Promise<boolean> {
    return unlessRefused(this.#plain('ServerReady', { options, read: ({ ready }) => ready === true }));
  }

  isModelReady(model: ModelAddress, options: CallOptions = {}): Promise<boolean> {
    const request = nameOf(model);
    return unlessRefused(this.#plain('ModelReady', { request, options, read: ({ ready }) => ready === true }));
  }

  serverMetadata(options: CallOptions = {}): Promise<ServerMetadata> {
    return this.#plain('ServerMetadata', { options, read: serverMetadata });
  }

  modelMetadata(model: ModelAddress, options: CallOptions = {}): Promise<ModelMetadataDocument> {
    return this.#plain('ModelMetadata', { request: nameOf(model), options, read: modelMetadata });
  }

  modelConfig(model: ModelAddress, options: CallOptions = {}): Promise<ModelConfigDocument> {
    return this.#plain('ModelConfig', { request: nameOf(model), options, read: modelConfig });
  }

  async infer(request: InferRequest, options: CallOptions = {}): Promise<InferResult> {
    assertSendable(request);
    const message = encodeRequest(request);
    return await this.#unary({ rpc: 'ModelInfer', message, kind: 'act', options, read: decodeResponse });
  }

  /**
   * Runs a model that answers any number of times, and gives each answer as it comes. The call begins with the first `next`. Whoever stops reading cancels it.
   * @throws {ClientError} from the iterator
   */
  async *inferStream(request: InferRequest, options: CallOptions = {}): AsyncGenerator<InferResult, void, undefined> {
    // Failures end the stream with their status instead of standing in it without one.
    const headers = { ...options.headers, triton_grpc_error: 'true' };
    const stream = await this.openStream({ ...options, headers });
    // Its failure comes with the answers.
    void stream.send(request).catch(() => stream.cancel());
    stream.end();
    for await (const { result, error } of stream) {
      if (error !== undefined) throw error;
      yield result;
    }
  }

  /** Opens a stream of requests and answers. It has no deadline unless `timeoutMs` names one. */
  async openStream(options: CallOptions = {}): Promise<InferStream> {
    const settings = { ...settingsOf(this.#options, options), timeoutMs: options.timeoutMs ?? 0 };
    const deadline = this.#deadline(settings);
    try {
      const session = await withRetries({ kind: 'act', retry: settings.retry, deadline }, () =>
        this.#connection.session(deadline),
      );
      this.#connection.begin(session);
      return new InferStream(this.#callInit({ session, rpc: 'ModelStreamInfer', settings, deadline }), () => {
        this.#connection.end(session);
        deadline.close();
      });
    } catch (thrown) {
      deadline.close();
      throw thrown;
    }
  }

  /** Requests that a stateful model sees as one sequence. */
  sequence(model: ModelAddress, options: SequenceOptions = {}): Sequence {
    return new Sequence(this, model, options);
  }

  statistics(
    options: CallOptions & { readonly model?: ModelAddress | undefined } = {},
  ): Promise<readonly ModelStatistics[]> {
    const request = options.model === undefined ? {} : nameOf(options.model);
    return this.#plain('ModelStatistics', { request, options, read: statistics });
  }

  repositoryIndex(options: CallOptions & { readonly ready?: boolean } = {}): Promise<readonly RepositoryIndexEntry[]> {
    const request = { ready: options.ready ?? false };
    return this.#plain('RepositoryIndex', { request, options, read: index });
  }

  loadModel(model: string, options: LoadModelOptions = {}): Promise<void> {
    const { config, files = {} } = options;
    const parameters = {
      ...(config !== undefined && { config: { stringParam: config } }),
      ...Object.fromEntries(Object.entries(files).map(([path, bytes]) => [`file:${path}`, { bytesParam: bytes }])),
    };
    return this.#act('RepositoryModelLoad', { modelName: model, parameters }, options);
  }

  unloadModel(model: string, options: UnloadModelOptions = {}): Promise<void> {
    const parameters = { unload_dependents: { boolParam: options.unloadDependents ?? false } };
    return this.#act('RepositoryModelUnload', { modelName: model, parameters }, options);
  }

  systemSharedMemoryStatus(options: RegionOptions = {}): Promise<readonly SystemRegion[]> {
    return this.#plain('SystemSharedMemoryStatus', { request: { name: options.name }, options, read: systemRegions });
  }

  registerSystemSharedMemory(region: SystemRegion, options: CallOptions = {}): Promise<void> {
    return this.#act('SystemSharedMemoryRegister', { ...region }, options);
  }

  unregisterSystemSharedMemory(options: RegionOptions = {}): Promise<void> {
    return this.#act('SystemSharedMemoryUnregister', { name: options.name }, options);
  }

  cudaSharedMemoryStatus(options: RegionOptions = {}): Promise<readonly CudaRegion[]> {
    return this.#plain('CudaSharedMemoryStatus', { request: { name: options.name }, options, read: cudaRegions });
  }

  registerCudaSharedMemory(region: CudaRegistration, options: CallOptions = {}): Promise<void> {
    return this.#act('CudaSharedMemoryRegister', { ...region }, options);
  }

  unregisterCudaSharedMemory(options: RegionOptions = {}): Promise<void> {
    return this.#act('CudaSharedMemoryUnregister', { name: options.name }, options);
  }

  traceSettings(options: TraceOptions = {}): Promise<TraceSettingValues> {
    return this.#plain('TraceSetting', { request: { modelName: options.model }, options, read: traceSettings });
  }

  updateTraceSettings(changes: TraceChanges, options: TraceOptions = {}): Promise<TraceSettingValues> {
    const request = { modelName: options.model, settings: traceChanges(changes) };
    return this.#plain('TraceSetting', { request, kind: 'act', options, read: traceSettings });
  }

  logSettings(options: CallOptions = {}): Promise<LogSettingValues> {
    return this.#plain('LogSettings', { options, read: logSettings });
  }

  updateLogSettings(changes: LogSettingValues, options: CallOptions = {}): Promise<LogSettingValues> {
    const request = { settings: logChanges(changes) };
    return this.#plain('LogSettings', { request, kind: 'act', options, read: logSettings });
  }

  /** Ends the connection; calls under way fail. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #act(rpc: string, request: Plain, options: CallOptions): Promise<void> {
    return this.#plain(rpc, { request, kind: 'act', options, read: () => {} });
  }

  /** A call whose messages are what protobufjs makes of objects. */
  #plain<T>(rpc: string, { request = {}, kind = 'read', options, read }: PlainCall<T>): Promise<T> {
    const set = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
    const pieces = [messageType(`inference.${rpc}Request`).encode(set).finish()];
    const answer = messageType(`inference.${rpc}Response`);
    return this.#unary({
      rpc,
      message: { pieces, byteLength: pieces[0]?.byteLength ?? 0 },
      kind,
      options,
      read: (bytes) => read(answer.toObject(answer.decode(bytes), { defaults: true, longs: Number, oneofs: false })),
    });
  }

  async #unary<T>({ rpc, message, kind, options, read }: Unary<T>): Promise<T> {
    const settings = settingsOf(this.#options, options);
    const deadline = this.#deadline(settings);
    try {
      return await withRetries({ kind, retry: settings.retry, deadline }, async () => {
        const session = await this.#connection.session(deadline);
        const bytes = await this.#once(this.#callInit({ session, rpc, settings, deadline }), message);
        return readAnswer(this.#connection.server, () => read(bytes));
      });
    } finally {
      deadline.close();
    }
  }

  /** One message each way. */
  #once(init: CallInit, message: Message): Promise<Buffer> {
    const { session } = init;
    const { server } = this.#connection;
    this.#connection.begin(session);
    return new Promise((resolve, reject) => {
      let answer: Buffer | undefined;
      const ended = (error: ClientError | undefined) => {
        this.#connection.end(session);
        if (error !== undefined) reject(error);
        else if (answer !== undefined) resolve(answer);
        else reject(noAnswer(server));
      };
      const call = new Call(init, {
        message: (bytes) => {
          answer = bytes;
        },
        ended,
      });
      void call.send(message);
      call.half();
    });
  }

  #callInit(call: Pick<CallInit, 'session' | 'deadline'> & { rpc: string; settings: CallSettings }): CallInit {
    const { requestCompression, maxMessageBytes = MAX_MESSAGE_BYTES } = this.#options;
    const isInference = call.rpc === 'ModelInfer' || call.rpc === 'ModelStreamInfer';
    return {
      session: call.session,
      deadline: call.deadline,
      path: `${SERVICE}/${call.rpc}`,
      metadata: call.settings.headers,
      server: this.#connection.server,
      compression: isInference ? requestCompression : undefined,
      maxMessageBytes,
    };
  }

  #deadline({ timeoutMs, signal }: CallSettings): Deadline {
    return new Deadline({ timeoutMs, signal, server: this.#connection.server });
  }
}

function nameOf(model: ModelAddress): Plain {
  const { model: name, version } = addressOf(model);
  return { name, version };
}

/** Whether something is ready: a server that is on its way out, or does not know it, refuses to say. */
async function unlessRefused(call: Promise<boolean>): Promise<boolean> {
  try {
    return await call;
  } catch (thrown) {
    const isNo = thrown instanceof ClientError && thrown.reason === 'refused';
    if (isNo && (thrown.code === 'NOT_FOUND' || thrown.code === 'UNAVAILABLE')) return false;
    throw thrown;
  }
}

function noAnswer(server: string): ClientError {
  return new ClientError({
    reason: 'bad-answer',
    code: 'INTERNAL',
    summary: `${server} ended a call well and without an answer`,
    advice: 'is it a server of the v2 inference protocol?',
  });
}
