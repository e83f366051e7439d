/** What a thread does of the decoding of requests: see `infer/beside.ts`. */
import type { JobResult } from '@nereid/core';
import { GrpcError } from './errors.ts';
import type { InferOutcome, InferTask } from './infer/beside.ts';
import { decodeInferRequest } from './infer/request.ts';

/** Decodes a message; a GrpcError is an outcome, anything else is thrown. */
export default function decodeInferTask({ body, limits }: InferTask): JobResult {
  try {
    const decoded = decodeInferRequest(Buffer.from(body.buffer, body.byteOffset, body.byteLength), limits);
    const inputs = decoded.inputs.map((input) => ({ ...input, data: owned(input.data) }));
    const value: InferOutcome = { decoded: { ...decoded, inputs } };
    return { value, transfer: inputs.map(({ data }) => data.buffer) };
  } catch (thrown) {
    if (!(thrown instanceof GrpcError)) throw thrown;
    const value: InferOutcome = { refusal: { reason: thrown.reason, message: thrown.message } };
    return { value, transfer: [] };
  }
}

/** Bytes that have their memory for themselves. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength && bytes.byteLength > 0;
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes);
}
