import {
  InferenceRequest,
  type InferenceResponse,
  type InferenceServerError,
  type Responder,
  withBatch,
} from '@nereid/core';
import type { Call, CallHandler } from './call.ts';
import { GrpcError } from './errors.ts';
import { decodeInferRequest } from './infer/request.ts';
import { encodeInferResponse } from './infer/response.ts';
import type { GrpcSettings } from './options.ts';
import { refusalOf } from './refusal.ts';

/** `ModelInfer`: one request, exactly one response. */
export class UnaryInfer implements CallHandler, Responder {
  readonly #call: Call;
  readonly #settings: GrpcSettings;
  #request: InferenceRequest | undefined;
  #tellsBatch = false;
  #response: InferenceResponse | undefined;

  constructor(call: Call, settings: GrpcSettings) {
    this.#call = call;
    this.#settings = settings;
  }

  message(bytes: Buffer): void {
    if (this.#request !== undefined) {
      this.#call.fail(new GrpcError('bad-message', 'the call takes one message, a second one came'));
      this.#request.cancel();
      return;
    }
    try {
      const decoded = decodeInferRequest(bytes, this.#settings.limits);
      this.#tellsBatch = decoded.tellsBatch;
      this.#request = new InferenceRequest(decoded, this);
    } catch (thrown) {
      this.#call.fail(refusalOf(bytes, thrown, this.#settings.engine));
      return;
    }
    this.#settings.engine.infer(this.#request);
  }

  halfClosed(): void {
    if (this.#request !== undefined) return;
    this.#call.fail(new GrpcError('bad-message', 'the call takes one message, none came'));
  }

  cancelled(): void {
    this.#request?.cancel();
  }

  respond({ modelName }: InferenceRequest, response: InferenceResponse | undefined, final: boolean): void {
    if (this.#response !== undefined && response !== undefined) {
      response.release?.();
      this.#call.fail(notOneResponse(modelName));
      return;
    }
    this.#response ??= response;
    if (final) this.#answer(modelName);
  }

  fail(_request: InferenceRequest, error: InferenceServerError): void {
    this.#call.fail(error);
  }

  #answer(modelName: string): void {
    const response = this.#response;
    if (response === undefined) {
      this.#call.fail(notOneResponse(modelName));
      return;
    }
    // Nothing may escape into the engine, which calls this while it runs other requests.
    try {
      const batch = this.#tellsBatch ? this.#request?.batch : undefined;
      const told = batch === undefined ? response : withBatch(response, batch);
      const message = encodeInferResponse(told, this.#request?.id ?? '');
      this.#call.send(message, () => response.release?.());
      this.#call.end();
    } catch (thrown) {
      this.#call.fail(thrown);
    }
  }
}

function notOneResponse(model: string): GrpcError {
  return new GrpcError(
    'not-one-response',
    `model '${model}' did not answer with exactly one response; ModelInfer does not support models with decoupled transaction policy, use ModelStreamInfer`,
  );
}
