/** What a thread does of the work on JSON: see `run-json-task.ts`. */
import type { JobResult, Tensor } from '@nereid/core';
import { latin1Bytes } from './bytes.ts';
import { ProtocolError } from './errors.ts';
import { decodeGenerateRequest } from './generate-request.ts';
import { encodeGenerateResponse } from './generate-response.ts';
import { readPlan } from './request-template.ts';
import { type JsonTask, type JsonTaskOutcome, moved } from './run-json-task.ts';
import { tensorText } from './tensor-text.ts';

/** Does a task; a ProtocolError is an outcome, anything else is thrown. */
export default function doJsonTask(task: JsonTask): JobResult {
  try {
    const { value, transfer } = done(task);
    return { value: { value } satisfies JsonTaskOutcome<unknown>, transfer };
  } catch (thrown) {
    if (!(thrown instanceof ProtocolError)) throw thrown;
    const { reason, message } = thrown;
    return { value: { refusal: { reason, message } } satisfies JsonTaskOutcome<unknown>, transfer: [] };
  }
}

function done(task: JsonTask): JobResult {
  switch (task.kind) {
    case 'request': {
      const plan = readPlan(task.header, task.limits);
      const inputs = plan.inputs.map((input) => ({ ...input, data: input.data && moved(input.data).bytes }));
      return { value: { ...plan, inputs }, transfer: inputs.flatMap(({ data }) => memoryOf(data)) };
    }
    case 'generate': {
      const init = decodeGenerateRequest(task.message);
      const inputs = init.inputs.map((input): Tensor => ({ ...input, data: moved(input.data).bytes }));
      return { value: { ...init, inputs }, transfer: inputs.flatMap(({ data }) => memoryOf(data)) };
    }
    case 'texts': {
      const texts = task.tensors.map((tensor) => moved(latin1Bytes(tensorText(tensor))).bytes);
      return { value: texts, transfer: texts.flatMap(memoryOf) };
    }
    case 'generate-answer': {
      const { bytes, transfer } = moved(latin1Bytes(encodeGenerateResponse(task.response, task.id)));
      return { value: bytes, transfer };
    }
    default:
      return task satisfies never;
  }
}

function memoryOf(bytes: Uint8Array | undefined): readonly ArrayBuffer[] {
  return bytes?.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
}
