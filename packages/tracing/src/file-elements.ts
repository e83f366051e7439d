/**
 * A trace as elements of a trace file, which is one JSON array: `{id, model_name, model_version[, request_id]}` first, then `{id, timestamps: [{name, ns}]}` per
 * mark, and `{id, activity, tensor: {name, data, shape, dtype}}` per tensor. Times are nanoseconds on a monotonic clock.
 */
import type { FinishedTrace, Mark, TracedTensor } from './finished-trace.ts';
import { tensorText } from './tensor-text.ts';

/** What happens first of what happens in one moment. */
const ORDER = [
  ...['HTTP_RECV_START', 'GRPC_WAITREAD_START', 'HTTP_RECV_END', 'GRPC_WAITREAD_END', 'REQUEST_START', 'QUEUE_START'],
  ...['COMPUTE_START', 'COMPUTE_INPUT_END', 'COMPUTE_OUTPUT_START', 'COMPUTE_END', 'INFER_RESPONSE_COMPLETE'],
  ...['REQUEST_END', 'HTTP_SEND_START', 'GRPC_SEND_START', 'HTTP_SEND_END', 'GRPC_SEND_END'],
];
const RANKS = new Map(ORDER.map((name, rank) => [name, rank]));
const rankOf = ({ name }: Mark) => RANKS.get(name) ?? ORDER.length;

/** The elements, as JSON, separated by commas. */
export function fileElements(trace: FinishedTrace): string {
  const { id, front, request, compute, tensors } = trace;
  const marks = [...front, ...request, ...compute].sort((a, b) => a.micros - b.micros || rankOf(a) - rankOf(b));
  const elements = [
    header(trace),
    ...marks.map((mark) => ({ id, timestamps: [timestamp(mark)] })),
    ...tensors.map((traced) => ({ id, ...tensorElement(traced) })),
  ];
  return elements.map((element) => JSON.stringify(element)).join(',');
}

function header({ id, modelName, modelVersion, requestId }: FinishedTrace) {
  // A request that was refused for the latest version has none; the original writes −1 for what is not known.
  const version = modelVersion === '' ? -1 : Number(modelVersion);
  const element = { id, model_name: modelName, model_version: version };
  return requestId === '' ? element : { ...element, request_id: requestId };
}

function timestamp({ name, micros }: Mark) {
  return { name, ns: Math.round(micros * 1000) };
}

function tensorElement({ activity, tensor }: TracedTensor) {
  const { name, shape, datatype } = tensor;
  return { activity, tensor: { name, data: tensorText(tensor), shape: shape.join(','), dtype: datatype } };
}
