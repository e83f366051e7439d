/** Raw binary requests: the whole body is the content of the model's only input, there is no JSON. */
import { DATATYPES, type Datatype, formatShape, type Shape, type Tensor } from '@nereid/core';
import { DecodedRequest } from './decoded-request.ts';
import { ProtocolError } from './errors.ts';
import { assertWithin, DEFAULT_LIMITS, type ProtocolLimits } from './limits.ts';
import { readRequestParameters } from './request-parameters.ts';
import type { ModelTarget } from './request-template.ts';
import { ResponseFormat } from './response-format.ts';

export interface RawRequest {
  readonly target: ModelTarget;
  /** Content of the input; viewed, not copied, but for BYTES. */
  readonly body: Uint8Array;
  /** The model's inputs: wire datatype, and shape without the batch dimension, −1 for a variable one. */
  readonly inputs: readonly { readonly name: string; readonly datatype: Datatype; readonly shape: Shape }[];
  /** Whether the model takes batches: the request then gets a leading dimension of 1. */
  readonly isBatching: boolean;
  readonly limits?: Partial<ProtocolLimits>;
}

const NO_PARAMETERS = readRequestParameters(undefined);

/**
 * Decodes a raw binary request. Its outputs are all sent as binary data; it has neither id nor parameters.
 * @throws {ProtocolError} `raw-request` for a model that cannot be called this way, `bad-size` for a body that gives no whole shape, `limit`
 */
export function decodeRawRequest(message: RawRequest): DecodedRequest {
  const limits = { ...DEFAULT_LIMITS, ...message.limits };
  const { target, body } = message;
  const [input, ...others] = message.inputs;
  if (input === undefined || others.length > 0) {
    throw new ProtocolError(
      'raw-request',
      `Raw request must only have 1 input (found ${message.inputs.length}) to be deduced, model '${target.modelName}'`,
    );
  }
  assertWithin({ what: 'the body of the raw request', bytes: body.byteLength, limit: limits.maxRawBytes, limits });
  const contents =
    input.datatype === 'BYTES' ? bytesContents(input, body) : { shape: rawShape(input, body), data: body };
  const shape = message.isBatching ? [1, ...contents.shape] : contents.shape;
  const tensor: Tensor = { name: input.name, datatype: input.datatype, shape, data: contents.data };
  return new DecodedRequest({
    target,
    id: '',
    inputs: [tensor],
    requestedOutputs: [],
    parameters: NO_PARAMETERS,
    format: ResponseFormat.binary,
    signature: undefined,
  });
}

type RawInput = RawRequest['inputs'][number];

/** The body is the one element; its length is put in front. */
function bytesContents(input: RawInput, body: Uint8Array): { shape: Shape; data: Uint8Array } {
  if (input.shape.length !== 1 || input.shape[0] !== 1) {
    throw new ProtocolError(
      'raw-request',
      `for BYTES data the model must have input shape [1] to be called with a raw request, ` +
        `input '${input.name}' has ${formatShape(input.shape)}`,
    );
  }
  const data = Buffer.allocUnsafe(4 + body.byteLength);
  data.writeUInt32LE(body.byteLength);
  data.set(body, 4);
  return { shape: [1], data };
}

/** The declared shape with its one variable dimension computed from the size of the body. */
function rawShape(input: RawInput, body: Uint8Array): Shape {
  const variable = input.shape.filter((dim) => dim === -1).length;
  if (variable === 0) return input.shape;
  if (variable > 1) {
    throw new ProtocolError(
      'raw-request',
      `the shape of a raw request cannot be deduced: there are more than one variable-sized dimension ` +
        `in input '${input.name}', shape ${formatShape(input.shape)}`,
    );
  }
  const rowBytes = input.shape.reduce(
    (size, dim) => (dim === -1 ? size : size * dim),
    DATATYPES[input.datatype].byteSize,
  );
  const size = rowBytes === 0 ? 0 : body.byteLength / rowBytes;
  if (!Number.isInteger(size)) {
    throw new ProtocolError(
      'bad-size',
      `unexpected size for input '${input.name}': ${body.byteLength} bytes are no multiple of ${rowBytes}, ` +
        `what shape ${formatShape(input.shape)} takes per step of its variable dimension`,
    );
  }
  return input.shape.map((dim) => (dim === -1 ? size : dim));
}
