/**
 * Request side of the codec. Body layout: `headerLength` bytes of JSON, then the blobs of the binary inputs in the order of `inputs`, nothing
 * between or behind them.
 */
import type { Tensor } from '@nereid/core';
import { asBuffer } from './bytes.ts';
import { DecodedRequest } from './decoded-request.ts';
import { ProtocolError } from './errors.ts';
import { assertHeaderLength } from './header-length.ts';
import { DEFAULT_LIMITS, type ProtocolLimits } from './limits.ts';
import { type ModelTarget, type RequestTemplate, readPlan, templateOf } from './request-template.ts';
import { type JobPlace, moved, runJsonTask } from './run-json-task.ts';
import { idBefore, keyStart, TemplateTable } from './template-table.ts';

export interface RequestDecoderOptions {
  /** Bounds on what a client may send; what is left out keeps its default. */
  readonly limits?: Partial<ProtocolLimits>;
  /** Distinct headers to remember, rounded up to a power of two. 0 remembers none. Default 1024. */
  readonly cachedHeaders?: number;
  /** Longest header that is remembered, in bytes; bounds the memory of the cache. Default 8192. */
  readonly maxCachedHeaderBytes?: number;
}

/** One message to decode. */
export interface EncodedRequest {
  /** Model the request is addressed to; pass the same object for the same model and version. */
  readonly target: ModelTarget;
  /** The whole body. Binary inputs are views of it: leave it unchanged until the request is answered. */
  readonly body: Uint8Array;
  /** Bytes of the JSON header; undefined when the whole body is JSON. */
  readonly headerLength: number | undefined;
}

/**
 * Decodes inference requests. A decoder remembers the headers it has seen: of two requests whose headers agree byte for byte (the value of a leading `"id"` apart)
 * the second is not parsed, and carries the same `RequestSignature`. Headers with JSON tensors are never remembered.
 */
export class RequestDecoder {
  readonly #limits: ProtocolLimits;
  readonly #templates: TemplateTable;
  readonly #maxCachedHeaderBytes: number;

  constructor(options: RequestDecoderOptions = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#templates = new TemplateTable(options.cachedHeaders ?? 1024);
    this.#maxCachedHeaderBytes = options.maxCachedHeaderBytes ?? 8192;
  }

  /**
   * Decodes a request with a JSON header.
   * @throws {ProtocolError} for the first thing that is wrong: header length, JSON, id, parameters, inputs, outputs, binary part
   */
  decode(message: EncodedRequest): DecodedRequest {
    const { target, headerLength } = message;
    const body = asBuffer(message.body);
    if (headerLength === undefined) return this.#decodeJson(target, body);
    assertHeaderLength(headerLength, body.length);
    if (headerLength > this.#maxCachedHeaderBytes) {
      return assemble({ target, body, headerLength, template: this.#read(body.subarray(0, headerLength)) });
    }
    const start = keyStart(body, headerLength);
    let template = this.#templates.get(body, start, headerLength);
    if (template === undefined) {
      template = this.#read(body.subarray(0, headerLength));
      if (template.isReusable) this.#templates.set({ body, start, end: headerLength }, template);
    }
    const id = start === 0 ? undefined : idBefore(body, start);
    return assemble({ target, body, headerLength, template, id });
  }

  #decodeJson(target: ModelTarget, body: Buffer): DecodedRequest {
    return assemble({ target, body, headerLength: body.length, template: this.#read(body) });
  }

  /**
   * What `decode` does, with the JSON read on a thread.
   * @param beside.threads  where
   * @param beside.module   URL of the file behind `@nereid/protocol/json-job`
   * @returns as `decode` does; a body that is JSON only is moved to the thread, and empty here from then on. Rejects as `decode` throws
   */
  async decodeBeside(message: EncodedRequest, beside: JobPlace): Promise<DecodedRequest> {
    const { target, headerLength } = message;
    const body = asBuffer(message.body);
    if (headerLength !== undefined) assertHeaderLength(headerLength, body.length);
    const header = headerLength === undefined ? body : body.subarray(0, headerLength);
    const { bytes, transfer } = headerLength === undefined ? moved(body) : { bytes: header, transfer: [] };
    const plan = await runJsonTask({ kind: 'request', header: bytes, limits: this.#limits }, { ...beside, transfer });
    const rest = headerLength === undefined ? Buffer.alloc(0) : body;
    return assemble({ target, body: rest, headerLength: headerLength ?? 0, template: templateOf(plan) });
  }

  #read(header: Buffer): RequestTemplate {
    return templateOf(readPlan(header, this.#limits));
  }
}

interface Assembly {
  readonly target: ModelTarget;
  readonly body: Buffer;
  readonly headerLength: number;
  readonly template: RequestTemplate;
  /** Overrides the template's. */
  readonly id?: string | undefined;
}

function assemble({ target, body, headerLength, template, id }: Assembly): DecodedRequest {
  const left = body.length - headerLength - template.binaryBytes;
  if (left > 0) throw leftOver(target, left);
  const inputs: Tensor[] = [];
  let offset = headerLength;
  for (const { name, datatype, shape, byteSize, data } of template.inputs) {
    const end = offset + byteSize;
    if (end > body.length) throw tooShort(name, byteSize, end - body.length);
    inputs.push({ name, datatype, shape, data: data ?? body.subarray(offset, end) });
    offset = end;
  }
  return new DecodedRequest({
    target,
    id: id ?? template.id,
    inputs,
    requestedOutputs: template.requestedOutputs,
    parameters: template.parameters,
    format: template.format,
    signature: template.signatures?.for(target),
    sharedMemory: template.sharedMemory,
    classes: template.classes,
  });
}

function tooShort(name: string, byteSize: number, missing: number): ProtocolError {
  return new ProtocolError(
    'bad-size',
    `unexpected size for input '${name}': its 'binary_data_size' is ${byteSize}, the body ends ${missing} bytes earlier`,
  );
}

function leftOver(target: ModelTarget, bytes: number): ProtocolError {
  return new ProtocolError(
    'bad-size',
    `unexpected additional input data for model '${target.modelName}': ${bytes} bytes follow the last binary input`,
  );
}
