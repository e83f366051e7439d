/** Requests with long typed contents, decoded on a thread: their numbers are read one by one. */
import type { JobThreads } from '@nereid/core';
import { withForwarded } from '@nereid/serving';
import { GrpcError, type GrpcErrorReason } from '../errors.ts';
import { FieldBudget, WIRE, WireReader } from '../wire/reader.ts';
import { DEFAULT_LIMITS, type DecodedInferRequest, INPUTS_FIELD, type InferLimits } from './request.ts';

/** Where jobs run. */
export interface JobPlace {
  readonly threads: JobThreads;
  /** URL of the file behind `@nereid/grpc/infer-job`. */
  readonly module: string;
}

export interface InferTask {
  readonly body: Uint8Array;
  readonly limits: InferLimits;
}

/** What crosses back. */
export type InferOutcome =
  | { readonly decoded: DecodedInferRequest }
  | { readonly refusal: { readonly reason: GrpcErrorReason; readonly message: string } };

/** Messages whose inputs take more than this are decoded on a thread; below it is a few milliseconds at the worst. */
const BESIDE_FROM_BYTES = 256 * 1024;

/** A prefix in the memory of a message is no reason to copy it. */
const PREFIX_BYTES = 16;

/** Whether the inputs of a message are so long that they must bring their numbers one by one. */
export function hasLongContents(body: Buffer): boolean {
  if (body.length <= BESIDE_FROM_BYTES) return false;
  const reader = new WireReader(body, new FieldBudget(DEFAULT_LIMITS.maxFields));
  let bytes = 0;
  try {
    for (let field = reader.next(); field !== 0 && bytes <= BESIDE_FROM_BYTES; field = reader.next()) {
      if (field === INPUTS_FIELD && reader.wireType === WIRE.bytes) bytes += reader.bytes().length;
      else reader.skip();
    }
  } catch {
    // Too many fields, or broken: the decoder says so.
  }
  return bytes > BESIDE_FROM_BYTES;
}

/**
 * What `decodeForwarded` does, on a thread; rejects with what that throws.
 * @param body  is moved there where it has its memory for itself, and empty here afterwards
 */
export async function decodeBeside(
  body: Buffer,
  job: {
    readonly limits: InferLimits;
    readonly forwarded: ReadonlyMap<string, string> | undefined;
    readonly beside: JobPlace;
  },
): Promise<DecodedInferRequest> {
  const { limits, forwarded, beside } = job;
  const isOwn = body.buffer instanceof ArrayBuffer && body.buffer.byteLength <= body.byteLength + PREFIX_BYTES;
  const bytes = isOwn ? new Uint8Array(body.buffer, body.byteOffset, body.byteLength) : new Uint8Array(body);
  const input: InferTask = { body: bytes, limits };
  const transfer = bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
  const outcome = (await beside.threads.run({ module: beside.module, input, transfer })) as InferOutcome;
  if ('refusal' in outcome) throw new GrpcError(outcome.refusal.reason, outcome.refusal.message);
  return forwarded === undefined ? outcome.decoded : withForwarded(outcome.decoded, forwarded);
}
