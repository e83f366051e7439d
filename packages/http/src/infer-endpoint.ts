import type { IncomingMessage, ServerResponse } from 'node:http';
import { isDatatype } from '@nereid/core';
import {
  BoundedCache,
  type DecodedRequest,
  decodeRawRequest,
  type ModelTarget,
  RequestDecoder,
} from '@nereid/protocol';
import { notOneResponse } from './errors.ts';
import { type ExchangeInit, InferExchange } from './infer-exchange.ts';
import { BESIDE_FROM_BYTES, type HttpSettings } from './options.ts';
import { restrictionOf } from './restriction.ts';
import { matchRoute, pathOf } from './routes.ts';

/** What an exchange asks about the server it runs on. */
export interface ServerState {
  /** Whether connections should end with their current answer. */
  readonly isClosing: boolean;
}

type RequestInit = Omit<ExchangeInit, 'endpoint' | 'target'>;

const CACHED_PATHS = 512;

/** The infer route: remembers which path means which model, and starts an exchange per request. */
export class InferEndpoint {
  readonly settings: HttpSettings;
  readonly #decoder: RequestDecoder;
  /** Paths whose model was found, so the requests of one client need no parsing of the path. */
  readonly #targets = new BoundedCache<string, ModelTarget>(CACHED_PATHS);
  #lastPath: string | undefined;
  #lastTarget: ModelTarget | undefined;

  constructor(settings: HttpSettings) {
    this.settings = settings;
    this.#decoder = new RequestDecoder({ limits: settings.limits });
  }

  /**
   * Answers the request if it is an inference.
   * @returns false, and has done nothing, when it is something else
   */
  tryHandle(request: IncomingMessage, response: ServerResponse, state: ServerState): boolean {
    return request.method === 'POST' && this.tryStart(request.url ?? '', { request, response, state });
  }

  /** Whether a POST for this URL is an inference, whatever its model. */
  isInference(url: string): boolean {
    return matchRoute(pathOf(url))?.kind === 'infer';
  }

  /** What `tryHandle` does, of a POST. */
  tryStart(url: string, init: RequestInit): boolean {
    const path = pathOf(url);
    const target = this.#knownTarget(path);
    if (target !== undefined) {
      this.#start(this.#exchange(init, target), init.request);
      return true;
    }
    const route = matchRoute(path);
    if (route?.kind !== 'infer') return false;
    this.#startFirst({ ...init, path }, { modelName: route.name, modelVersion: route.version });
    return true;
  }

  /** Most requests go where the one before went, and comparing two paths is cheaper than looking one up. */
  #knownTarget(path: string): ModelTarget | undefined {
    if (path === this.#lastPath) return this.#lastTarget;
    const target = this.#targets.get(path);
    if (target !== undefined) {
      this.#lastPath = path;
      this.#lastTarget = target;
    }
    return target;
  }

  #exchange({ request, response, state }: RequestInit, target: ModelTarget): InferExchange {
    return new InferExchange({ endpoint: this, request, response, state, target });
  }

  #start(exchange: InferExchange, request: ExchangeInit['request']): void {
    try {
      this.#assertAllowed(request);
    } catch (thrown) {
      exchange.refuse(thrown);
      return;
    }
    exchange.start();
  }

  /** The first request of a path: remembers it when its model is there, refuses it otherwise, before anything else is looked at. */
  #startFirst(init: RequestInit & { readonly path: string }, target: ModelTarget): void {
    const exchange = this.#exchange(init, target);
    try {
      this.#assertAllowed(init.request);
      this.assertServed(target);
    } catch (thrown) {
      exchange.refuse(thrown);
      return;
    }
    this.#targets.set(init.path, target);
    exchange.start();
  }

  /** @throws {HttpError} `restricted` */
  #assertAllowed(request: ExchangeInit['request']): void {
    if (this.settings.restrictions === undefined) return;
    const refusal = restrictionOf('infer', request.headers, this.settings);
    if (refusal !== undefined) throw refusal;
  }

  /** @throws {InferenceServerError} NOT_FOUND or UNAVAILABLE, as the engine says; UNSUPPORTED for a decoupled model */
  assertServed({ modelName, modelVersion }: ModelTarget): void {
    const { engine } = this.settings;
    engine.modelMetadata(modelName, modelVersion);
    if (engine.isDecoupled(modelName, modelVersion)) throw notOneResponse(modelName);
  }

  /**
   * Decodes a body; a header length of 0 stands for a raw binary request.
   * @throws {InferenceServerError} INVALID_ARG for a bad request; NOT_FOUND, UNAVAILABLE for a model that is no longer there
   */
  decode(target: ModelTarget, body: Buffer, headerLength: number | undefined): DecodedRequest {
    if (headerLength === 0) return this.#decodeRaw(target, body);
    return this.#decoder.decode({ target, body, headerLength });
  }

  /** Whether a body has so much JSON that it is read on a thread. */
  isLong(body: Buffer, headerLength: number | undefined): boolean {
    return this.settings.beside !== undefined && (headerLength ?? body.length) > BESIDE_FROM_BYTES;
  }

  /** What `decode` does, on a thread; it rejects with what that throws. A body of JSON alone is empty afterwards. */
  decodeBeside(target: ModelTarget, body: Buffer, headerLength: number | undefined): Promise<DecodedRequest> {
    const { beside } = this.settings;
    if (beside === undefined) throw new TypeError('there are no threads');
    return this.#decoder.decodeBeside({ target, body, headerLength }, beside);
  }

  #decodeRaw(target: ModelTarget, body: Buffer): DecodedRequest {
    const { engine, limits } = this.settings;
    const { modelName, modelVersion } = target;
    const metadata = engine.modelMetadata(modelName, modelVersion);
    const isBatching = engine.modelConfig(modelName, modelVersion).maxBatchSize > 0;
    const inputs = metadata.inputs.flatMap(({ name, datatype, shape }) =>
      isDatatype(datatype) ? [{ name, datatype, shape: isBatching ? shape.slice(1) : shape }] : [],
    );
    return decodeRawRequest({ target, body, inputs, isBatching, limits });
  }
}
