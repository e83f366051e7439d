import {
  InferenceRequest,
  type InferenceResponse,
  type InferenceServerError,
  type RequestOrigin,
  type RequestTrace,
  type Responder,
  type SharedMemoryTensors,
  withBatch,
} from '@nereid/core';
import type { Classification } from '@nereid/serving';
import { RequestMemory } from '@nereid/shared-memory';
import type { Call, CallHandler } from './call.ts';
import { GrpcError } from './errors.ts';
import { decodeBeside, hasLongContents } from './infer/beside.ts';
import { type Address, addressOf, type DecodedInferRequest } from './infer/request.ts';
import { type EncodedPieces, encodeInferResponse } from './infer/response.ts';
import { decodeForwarded } from './metadata.ts';
import type { GrpcSettings } from './options.ts';
import { refusalOf } from './refusal.ts';
import { beginTrace, traceTime } from './trace-start.ts';

interface UnaryInferInit {
  readonly call: Call;
  readonly settings: GrpcSettings;
  /** Metadata for the model. */
  readonly forwarded: ReadonlyMap<string, string> | undefined;
}

/** `ModelInfer`: one request, exactly one response. */
export class UnaryInfer implements CallHandler, Responder {
  readonly #call: Call;
  readonly #settings: GrpcSettings;
  readonly #forwarded: ReadonlyMap<string, string> | undefined;
  #request: InferenceRequest | undefined;
  /** When the call came, if requests are traced. */
  readonly #cameMicros: number | undefined;
  /** Undefined for requests that are not traced: nearly all. */
  #trace: RequestTrace | undefined;
  #tellsBatch = false;
  #hasMessage = false;
  /** Undefined for requests that want no classes. */
  #classification: Classification | undefined;
  /** Undefined for requests that name no region. */
  #memory: RequestMemory | undefined;
  #response: InferenceResponse | undefined;

  constructor(init: UnaryInferInit) {
    this.#call = init.call;
    this.#settings = init.settings;
    this.#forwarded = init.forwarded;
    this.#cameMicros = traceTime(init.settings);
  }

  get origin(): RequestOrigin {
    return { protocol: 'grpc', address: this.#call.remoteAddress };
  }

  message(bytes: Buffer): void {
    if (this.#hasMessage) {
      this.#call.fail(new GrpcError('bad-message', 'the call takes one message, a second one came'));
      this.cancelled();
      return;
    }
    this.#hasMessage = true;
    const { beside, engine, limits } = this.#settings;
    const forwarded = this.#forwarded;
    if (beside === undefined || !hasLongContents(bytes)) {
      this.#infer(
        () => decodeForwarded(bytes, { limits, forwarded }),
        () => addressOf(bytes),
      );
      return;
    }
    // Read first: the bytes are moved.
    const address = addressOf(bytes);
    decodeBeside(bytes, { limits, forwarded, beside }).then(
      (decoded) => {
        if (!this.#call.isOver)
          this.#infer(
            () => decoded,
            () => address,
          );
      },
      (thrown: unknown) => this.#fail(refusalOf(address, thrown, engine)),
    );
  }

  #infer(decode: () => DecodedInferRequest, address: () => Address): void {
    const { engine } = this.#settings;
    try {
      const decoded = decode();
      this.#tellsBatch = decoded.tellsBatch;
      if (engine.isDecoupled(decoded.modelName, decoded.modelVersion)) throw decoupled(decoded.modelName);
      this.#beginTrace(decoded);
      const { classes } = decoded;
      if (classes !== undefined) this.#classification = engine.classification(decoded, classes);
      if (decoded.sharedMemory !== undefined) {
        void this.#inferFromMemory(decoded, decoded.sharedMemory, address);
        return;
      }
      this.#request = new InferenceRequest(decoded, this.#trace?.watch(this) ?? this);
    } catch (thrown) {
      this.#fail(refusalOf(address(), thrown, engine));
      return;
    }
    engine.infer(this.#request);
  }

  halfClosed(): void {
    if (this.#hasMessage) return;
    this.#call.fail(new GrpcError('bad-message', 'the call takes one message, none came'));
  }

  cancelled(): void {
    this.#trace?.end();
    this.#memory?.close();
    this.#request?.cancel();
  }

  async #inferFromMemory(
    decoded: DecodedInferRequest,
    tensors: SharedMemoryTensors,
    address: () => Address,
  ): Promise<void> {
    const { engine, sharedMemory } = this.#settings;
    try {
      const memory = new RequestMemory(sharedMemory, tensors);
      this.#memory = memory;
      const inputs = await memory.readInputs(decoded.inputs);
      if (memory.isClosed) return;
      this.#request = new InferenceRequest({ ...decoded, inputs }, this.#trace?.watch(this) ?? this);
    } catch (thrown) {
      this.#memory?.close();
      this.#fail(refusalOf(address(), thrown, engine));
      return;
    }
    engine.infer(this.#request);
  }

  respond({ modelName }: InferenceRequest, response: InferenceResponse | undefined, final: boolean): void {
    if (this.#response !== undefined && response !== undefined) {
      response.release?.();
      this.#memory?.close();
      this.#fail(notOneResponse(modelName));
      this.#request?.cancel();
      return;
    }
    this.#response ??= response;
    if (final) this.#answer(modelName);
  }

  fail(_request: InferenceRequest, error: InferenceServerError): void {
    this.#memory?.close();
    this.#fail(error);
  }

  #answer(modelName: string): void {
    const response = this.#response;
    if (response === undefined) {
      this.#memory?.close();
      this.#fail(notOneResponse(modelName));
      return;
    }
    const release = () => response.release?.();
    if (this.#memory === undefined) this.#send(response, release);
    else void this.#answerIntoMemory(response, this.#memory);
  }

  async #answerIntoMemory(response: InferenceResponse, memory: RequestMemory): Promise<void> {
    const release = () => response.release?.();
    try {
      if (!memory.isClosed) this.#send(await memory.writeOutputs(response), release);
      else release();
    } catch (thrown) {
      release();
      this.#fail(thrown);
    } finally {
      memory.close();
    }
  }

  #send(response: InferenceResponse, release: () => void): void {
    let message: EncodedPieces;
    // Nothing may escape into the engine, which calls this while it runs other requests.
    try {
      message = this.#encode(response);
    } catch (thrown) {
      release();
      this.#fail(thrown);
      return;
    }
    this.#trace?.sending();
    this.#call.send(message, this.#trace === undefined ? release : () => this.#sent(release));
    this.#call.end();
  }

  #sent(release: () => void): void {
    release();
    this.#trace?.end();
  }

  #fail(thrown: unknown): void {
    this.#trace?.sending();
    this.#call.fail(thrown);
    this.#trace?.end(thrown);
  }

  #beginTrace({ modelName, modelVersion }: DecodedInferRequest): void {
    if (this.#cameMicros === undefined) return;
    this.#trace = beginTrace(this.#settings, {
      modelName,
      modelVersion,
      call: this.#call,
      cameMicros: this.#cameMicros,
    });
  }

  #encode(response: InferenceResponse): EncodedPieces {
    const classified = this.#classification?.apply(response) ?? response;
    const batch = this.#tellsBatch ? this.#request?.batch : undefined;
    const told = batch === undefined ? classified : withBatch(classified, batch);
    return encodeInferResponse(told, this.#request?.id ?? '');
  }
}

function notOneResponse(model: string): GrpcError {
  return new GrpcError(
    'not-one-response',
    `model '${model}' did not answer with exactly one response, as ModelInfer needs it`,
  );
}

function decoupled(model: string): GrpcError {
  return new GrpcError(
    'unsupported',
    `ModelInfer doesn't support models with decoupled transaction policy, as '${model}' has; use ModelStreamInfer`,
  );
}
