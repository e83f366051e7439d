/** Encodes `ModelInferResponse` and `ModelStreamInferResponse`. Outputs are always raw: one entry of bytes per output, in their order. */
import type { InferenceResponse, ParameterValue, Tensor } from '@nereid/core';
import { WIRE } from '../wire/reader.ts';
import { WireWriter } from '../wire/writer.ts';
import { writeParameterEntry } from './parameters.ts';

/** Field numbers. */
const RESPONSE = { modelName: 1, modelVersion: 2, id: 3, parameters: 4, outputs: 5, rawContents: 6 } as const;
const OUTPUT = { name: 1, datatype: 2, shape: 3 } as const;
const STREAM = { errorMessage: 1, response: 2 } as const;

/** Outputs up to this size are copied into one piece with what stands before them: cheaper than several pieces. */
const COPY_UP_TO_BYTES = 4096;

/** A message in pieces; large outputs are views of the response's memory. */
export interface EncodedPieces {
  readonly pieces: readonly Uint8Array[];
  readonly byteLength: number;
  /** Whether no piece views the memory of the response. */
  readonly isCopied: boolean;
}

export interface ResponseHead {
  readonly modelName: string;
  readonly modelVersion: string;
  /** Echoed to the client; '' when it gave none. */
  readonly id: string;
}

/** What one answer on a stream says. */
export interface StreamAnswer {
  readonly head: ResponseHead;
  readonly outputs: readonly Tensor[];
  readonly parameters?: ReadonlyMap<string, ParameterValue> | undefined;
  readonly isFinal: boolean;
}

const head = new WireWriter(512);
const scratch = new WireWriter(256);

/** `ModelInferResponse`. */
export function encodeInferResponse(response: InferenceResponse, id: string): EncodedPieces {
  const { modelName, modelVersion, outputs, parameters } = response;
  writeHead({ modelName, modelVersion, id });
  writeParameters(parameters);
  return withOutputs(outputs);
}

/** `ModelStreamInferResponse` with a `ModelInferResponse` inside; every one carries `triton_final_response`. */
export function encodeStreamResponse({ head: start, outputs, parameters, isFinal }: StreamAnswer): EncodedPieces {
  writeHead(start);
  writeParameters(parameters);
  writeParameterEntry(head, RESPONSE.parameters, { key: 'triton_final_response', value: isFinal, scratch });
  const inner = withOutputs(outputs);
  head.tag(STREAM.response, WIRE.bytes);
  head.varint(inner.byteLength);
  const prefix = head.finish();
  return { ...inner, pieces: [prefix, ...inner.pieces], byteLength: prefix.length + inner.byteLength };
}

/** `ModelStreamInferResponse` for a request that failed. */
export function encodeStreamError(message: string, start: Partial<ResponseHead>, isFinal: boolean): EncodedPieces {
  writeHead({ modelName: '', modelVersion: '', id: '', ...start });
  if (isFinal) writeParameterEntry(head, RESPONSE.parameters, { key: 'triton_final_response', value: true, scratch });
  const inner = head.finish();
  // Clients take an empty text for no error.
  head.string(STREAM.errorMessage, message === '' ? 'unknown error' : message);
  head.bytes(STREAM.response, inner);
  const bytes = head.finish();
  return { pieces: [bytes], byteLength: bytes.length, isCopied: true };
}

function writeHead({ modelName, modelVersion, id }: ResponseHead): void {
  head.string(RESPONSE.modelName, modelName);
  head.string(RESPONSE.modelVersion, modelVersion);
  head.string(RESPONSE.id, id);
}

function writeParameters(parameters: ReadonlyMap<string, ParameterValue> | undefined): void {
  if (parameters === undefined) return;
  for (const [key, value] of parameters) {
    writeParameterEntry(head, RESPONSE.parameters, { key, value, scratch });
  }
}

function withOutputs(outputs: readonly Tensor[]): EncodedPieces {
  let isCopied = true;
  for (const output of outputs) {
    writeOutput(output);
    if (output.data.byteLength > COPY_UP_TO_BYTES) isCopied = false;
  }
  if (isCopied) {
    for (const { data } of outputs) head.bytes(RESPONSE.rawContents, data);
    const bytes = head.finish();
    return { pieces: [bytes], byteLength: bytes.length, isCopied };
  }
  return inPieces(outputs);
}

function inPieces(outputs: readonly Tensor[]): EncodedPieces {
  const pieces: Uint8Array[] = [];
  let byteLength = 0;
  const add = (piece: Uint8Array) => {
    pieces.push(piece);
    byteLength += piece.byteLength;
  };
  for (const { data } of outputs) {
    head.tag(RESPONSE.rawContents, WIRE.bytes);
    head.varint(data.byteLength);
    add(head.finish());
    if (data.byteLength > 0) add(data);
  }
  return { pieces, byteLength, isCopied: false };
}

function writeOutput({ name, datatype, shape }: Tensor): void {
  scratch.string(OUTPUT.name, name);
  scratch.string(OUTPUT.datatype, datatype);
  if (shape.length > 0) {
    const bytes = dimensions(shape);
    scratch.bytes(OUTPUT.shape, bytes);
  }
  head.bytes(RESPONSE.outputs, scratch.finish());
}

const packed = new WireWriter(64);

function dimensions(shape: readonly number[]): Buffer {
  for (const dim of shape) packed.varint(dim);
  return packed.finish();
}
