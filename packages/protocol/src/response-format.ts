/**
 * Response side of the codec: JSON header and binary blobs of an answer. Header layout:
 * `{"id"?,"model_name","model_version","parameters"?,"outputs":[{"name","datatype","shape", ("data" | "parameters":{"binary_data_size"})?}]}`;
 * an output in shared memory has neither. The blobs follow the header in the order of `outputs`.
 */
import type { InferenceResponse, ParameterValue, Tensor } from '@nereid/core';
import { quote } from './byte-text.ts';
import { latin1Bytes } from './bytes.ts';
import { type JobPlace, runJsonTask } from './run-json-task.ts';
import { tensorText } from './tensor-text.ts';

/** An answer ready to be written: `header` as latin1, then `blobs`, together `byteLength` bytes. */
export interface EncodedMessage {
  /** JSON as a byte string: one character per byte, whatever the encoding of the text; write it as `latin1`. */
  readonly header: string;
  /** Views of the tensors' memory, not copies; empty ones are left out. */
  readonly blobs: readonly Uint8Array[];
  readonly byteLength: number;
  /** Value for `Inference-Header-Content-Length`; undefined when there is no blob and so the message is plain JSON. */
  readonly headerLength: number | undefined;
}

interface CachedHeader {
  readonly response: ResponseShape;
  /** The header without the brace it starts with and without id. */
  readonly text: string;
}

interface ResponseShape {
  readonly modelName: string;
  readonly modelVersion: string;
  readonly outputs: readonly { name: string; datatype: string; shape: readonly number[]; byteSize: number }[];
}

const MAX_CACHED = 4;

/** How the outputs of a request are sent. */
export interface OutputForms {
  /** How each output that the client named is sent. */
  readonly listed: ReadonlyMap<string, OutputForm>;
  /** Whether all are binary where it named none. */
  readonly binaryByDefault: boolean;
}

/** How an output is sent; `memory` is told without its contents, which lie in shared memory. */
export type OutputForm = 'json' | 'binary' | 'memory';

/**
 * How the outputs of a request are sent. One format serves every request with the same JSON header, so it remembers the headers of
 * its last few all-binary answers: an answer of the same outputs, shapes and sizes needs no JSON at all.
 */
export class ResponseFormat {
  /** Every output as binary data, as a raw binary request wants them. */
  static readonly binary = new ResponseFormat({ listed: new Map(), binaryByDefault: true });

  readonly #listed: ReadonlyMap<string, OutputForm>;
  readonly #binaryByDefault: boolean;
  readonly #cached: CachedHeader[] = [];
  #nextSlot = 0;

  constructor(outputs: OutputForms) {
    this.#listed = outputs.listed;
    this.#binaryByDefault = outputs.binaryByDefault;
  }

  /** Whether the output is sent as binary data. */
  isBinary(output: string): boolean {
    return this.#formOf(output) === 'binary';
  }

  #formOf(output: string): OutputForm {
    return this.#listed.get(output) ?? (this.#listed.size === 0 && this.#binaryByDefault ? 'binary' : 'json');
  }

  /**
   * Encodes an answer. The blobs are views of the outputs' memory.
   *
   * @param id  echoed when not empty
   * @throws {ProtocolError} `not-json` when an output that has no JSON form is to be sent as JSON
   */
  encode(response: InferenceResponse, id: string): EncodedMessage {
    const text = this.#cachedText(response) ?? this.#buildText(response);
    const header = id === '' ? `{${text}` : `{"id":${quote(id)},${text}`;
    const blobs: Uint8Array[] = [];
    let byteLength = header.length;
    for (const output of response.outputs) {
      if (output.data.byteLength === 0 || !this.isBinary(output.name)) continue;
      blobs.push(output.data);
      byteLength += output.data.byteLength;
    }
    return { header, blobs, byteLength, headerLength: blobs.length === 0 ? undefined : header.length };
  }

  /** Bytes of the tensors of an answer that are written as JSON. */
  jsonBytes(response: InferenceResponse): number {
    let bytes = 0;
    for (const { name, data } of response.outputs) if (this.#formOf(name) === 'json') bytes += data.byteLength;
    return bytes;
  }

  /**
   * What `encode` does, with the text of the tensors made on a thread. Their bytes are copied before this returns; the blobs of binary outputs are views as ever.
   * The header is in the first blobs, so that nothing large is joined.
   */
  async encodeBeside(response: InferenceResponse, id: string, beside: JobPlace): Promise<EncodedMessage> {
    const tensors = response.outputs
      .filter(({ name }) => this.#formOf(name) === 'json')
      .map((tensor) => ({ ...tensor, data: new Uint8Array(tensor.data) }));
    const transfer = tensors.map(({ data }) => data.buffer);
    const texts = await runJsonTask({ kind: 'texts', tensors }, { ...beside, transfer });
    const start = id === '' ? '{' : `{"id":${quote(id)},`;
    const pieces: (string | Uint8Array)[] = [`${start}${namesText(response)},"outputs":[`];
    let next = 0;
    for (const [index, output] of response.outputs.entries()) {
      const form = this.#formOf(output.name);
      pieces.push(`${index === 0 ? '' : ','}${outputStart(output)}`);
      const text = form === 'json' ? texts[next++] : undefined;
      if (form === 'json' && text !== undefined) pieces.push(',"data":', text);
      else pieces.push(contentsText(output, form));
      pieces.push('}');
    }
    pieces.push(']}');
    const header = pieces.map((piece) => (typeof piece === 'string' ? latin1Bytes(piece) : piece));
    const headerLength = header.reduce((bytes, piece) => bytes + piece.byteLength, 0);
    const blobs = response.outputs.filter(({ name }) => this.isBinary(name)).map(({ data }) => data);
    const binaryBytes = blobs.reduce((bytes, blob) => bytes + blob.byteLength, 0);
    return {
      header: '',
      blobs: [...header, ...blobs].filter((blob) => blob.byteLength > 0),
      byteLength: headerLength + binaryBytes,
      headerLength: binaryBytes === 0 ? undefined : headerLength,
    };
  }

  #cachedText(response: InferenceResponse): string | undefined {
    if (response.parameters !== undefined && response.parameters.size > 0) return undefined;
    for (const entry of this.#cached) {
      if (hasShape(response, entry.response)) return entry.text;
    }
    return undefined;
  }

  #buildText(response: InferenceResponse): string {
    const outputs = response.outputs.map((output) => outputText(output, this.#formOf(output.name)));
    const text = `${namesText(response)},"outputs":[${outputs.join(',')}]}`;
    const hasParameters = response.parameters !== undefined && response.parameters.size > 0;
    if (!hasParameters && response.outputs.every((output) => this.isBinary(output.name)))
      this.#remember(response, text);
    return text;
  }

  #remember(response: InferenceResponse, text: string): void {
    this.#cached[this.#nextSlot] = { response: shapeOf(response), text };
    this.#nextSlot = (this.#nextSlot + 1) % MAX_CACHED;
  }
}

function shapeOf(response: InferenceResponse): ResponseShape {
  return {
    modelName: response.modelName,
    modelVersion: response.modelVersion,
    outputs: response.outputs.map(({ name, datatype, shape, data }) => ({
      name,
      datatype,
      shape: [...shape],
      byteSize: data.byteLength,
    })),
  };
}

function hasShape(response: InferenceResponse, known: ResponseShape): boolean {
  const { outputs } = known;
  if (response.modelVersion !== known.modelVersion || response.modelName !== known.modelName) return false;
  if (response.outputs.length !== outputs.length) return false;
  for (let i = 0; i < outputs.length; i++) {
    const expected = outputs[i];
    const output = response.outputs[i];
    if (expected === undefined || output === undefined) return false;
    if (output.data.byteLength !== expected.byteSize || output.name !== expected.name) return false;
    if (output.datatype !== expected.datatype || !sameShape(output.shape, expected.shape)) return false;
  }
  return true;
}

function sameShape(left: readonly number[], right: readonly number[]): boolean {
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) {
    if (left[i] !== right[i]) return false;
  }
  return true;
}

function namesText({ modelName, modelVersion, parameters }: InferenceResponse): string {
  return `"model_name":${quote(modelName)},"model_version":${quote(modelVersion)}${parametersText(parameters)}`;
}

function outputText(output: Tensor, form: OutputForm): string {
  return `${outputStart(output)}${contentsText(output, form)}}`;
}

/** An output up to its contents. */
function outputStart({ name, datatype, shape }: Tensor): string {
  return `{"name":${quote(name)},"datatype":"${datatype}","shape":[${shape.join(',')}]`;
}

function contentsText(output: Tensor, form: OutputForm): string {
  switch (form) {
    case 'json':
      return `,"data":${tensorText(output)}`;
    case 'binary':
      return `,"parameters":{"binary_data_size":${output.data.byteLength}}`;
    case 'memory':
      return '';
    default:
      return form satisfies never;
  }
}

function parametersText(parameters: ReadonlyMap<string, ParameterValue> | undefined): string {
  if (parameters === undefined || parameters.size === 0) return '';
  const members = [...parameters].map(([key, value]) => `${quote(key)}:${parameterText(value)}`);
  return `,"parameters":{${members.join(',')}}`;
}

/** Text of a parameter: strings quoted, numbers as they print, NaN and the infinities as bare words. */
export function parameterText(value: ParameterValue): string {
  return typeof value === 'string' ? quote(value) : String(value);
}
