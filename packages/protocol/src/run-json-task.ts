/** Long work on JSON as jobs for threads (`JobThreads`). What crosses is plain data; refusals cross as their reason and message. */
import type { InferenceRequestInit, InferenceResponse, JobThreads, Tensor } from '@nereid/core';
import { ProtocolError, type ProtocolErrorReason } from './errors.ts';
import type { GenerateRequest } from './generate-request.ts';
import type { ProtocolLimits } from './limits.ts';
import type { RequestPlan } from './request-template.ts';

export type JsonTask =
  | { readonly kind: 'request'; readonly header: Uint8Array; readonly limits: ProtocolLimits }
  | { readonly kind: 'generate'; readonly message: GenerateRequest }
  | { readonly kind: 'texts'; readonly tensors: readonly Tensor[] }
  | { readonly kind: 'generate-answer'; readonly response: InferenceResponse; readonly id: string };

/** What comes of each kind of task. Texts are bytes of JSON. */
export interface JsonTaskValues {
  readonly request: RequestPlan;
  readonly generate: InferenceRequestInit;
  readonly texts: readonly Uint8Array[];
  readonly 'generate-answer': Uint8Array;
}

/** What crosses back. */
export type JsonTaskOutcome<Value> =
  | { readonly value: Value }
  | { readonly refusal: { readonly reason: ProtocolErrorReason; readonly message: string } };

/** Where jobs run. */
export interface JobPlace {
  readonly threads: JobThreads;
  /** URL of the file behind `@nereid/protocol/json-job`. */
  readonly module: string;
}

/** Rejects with the ProtocolError that the work ended with. */
export async function runJsonTask<Task extends JsonTask>(
  task: Task,
  { threads, module, transfer }: JobPlace & { readonly transfer: readonly ArrayBuffer[] },
): Promise<JsonTaskValues[Task['kind']]> {
  const outcome = await threads.run({ module, input: task, transfer });
  const told = outcome as JsonTaskOutcome<JsonTaskValues[Task['kind']]>;
  if ('value' in told) return told.value;
  throw new ProtocolError(told.refusal.reason, told.refusal.message);
}

/** Bytes that are moved to a thread when they are all that their memory holds, and copied otherwise. */
export function moved(bytes: Uint8Array): { readonly bytes: Uint8Array; readonly transfer: readonly ArrayBuffer[] } {
  const { buffer } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
  if (isWhole) return { bytes, transfer: [buffer] };
  const copy = new Uint8Array(bytes);
  return { bytes: copy, transfer: [copy.buffer] };
}
