/** Splits the results of a batch among its requests: each gets views of its own rows, in the order of the configuration. */
import type { Datatype, InferenceRequest, InferenceResponse, Shape, Tensor } from '@nereid/core';
import type { OutputTensor } from '@nereid/native';
import { clientDatatype, clientDims, type OutputCheck } from './check-output.ts';
import { cutRagged, type Piece } from './cut-ragged.ts';
import { PyTorchBackendError } from './errors.ts';
import type { GatheredBatch } from './gather.ts';
import type { ModelPlan, PlannedOutput } from './model-plan.ts';
import { BatchBuffers, type ReleaseBuffers, SharedResponse } from './shared-response.ts';

/** One output of the whole batch, ready to be cut. */
interface Result {
  readonly name: string;
  readonly datatype: Datatype;
  /** Shape without the batch dimension, as clients see it. */
  readonly dims: Shape;
  readonly data: ArrayBuffer;
  /** Bytes per row; strings are cut at `offsets` instead. */
  readonly rowBytes: number;
  readonly offsets: readonly number[] | undefined;
  /** One per request, where rows do not cut it. */
  readonly pieces?: readonly Piece[] | undefined;
}

export interface Scattering {
  readonly plan: ModelPlan;
  readonly batch: GatheredBatch;
  /** One per output of the plan; more are passed over. */
  readonly outputs: readonly OutputTensor[];
  readonly releaseBuffers: ReleaseBuffers;
}

/**
 * One response per request, in their order; a PyTorchBackendError in place of one that there is nothing to give.
 * @throws {PyTorchBackendError} `output`: a datatype, rank or number of rows that the configuration does not promise
 */
export function scatter({ plan, batch, outputs, releaseBuffers }: Scattering): readonly Answer[] {
  const results = resultsOf(plan, outputs, batch);
  const buffers = BatchBuffers.of(outputs, { holders: batch.requests.length, release: releaseBuffers });
  const { modelName, modelVersion } = plan;
  let row = 0;
  return batch.requests.map((request, i) => {
    const rows = batch.rows[i] ?? 0;
    const tensors = cut(plan, { results, request, place: i, row, rows });
    row += rows;
    if (tensors instanceof PyTorchBackendError) {
      buffers?.drop();
      return tensors;
    }
    return buffers === undefined
      ? { modelName, modelVersion, outputs: tensors }
      : new SharedResponse({ modelName, modelVersion, outputs: tensors, buffers });
  });
}

export type Answer = InferenceResponse | PyTorchBackendError;

/** The answer to a request without rows: every output with 0 rows, and 0 for variable dimensions. */
export function emptyResponse(
  { modelName, modelVersion, outputs }: ModelPlan,
  request: InferenceRequest,
): InferenceResponse {
  const wanted = outputs.filter(({ spec }) => request.wants(spec.name));
  return {
    modelName,
    modelVersion,
    outputs: wanted.map(({ spec: { name, datatype = 'FP32', dims = [] } }) => ({
      name,
      datatype,
      shape: [0, ...dims.map((dim) => Math.max(dim, 0))],
      data: new Uint8Array(0),
    })),
  };
}

/** What was found out about an output of the batch before: it holds again for the same shape, datatype and number of rows. */
interface Known {
  readonly shape: Shape;
  readonly datatype: OutputTensor['datatype'];
  readonly total: number;
  readonly found: Pick<Result, 'datatype' | 'dims'>;
}

const KNOWN = new WeakMap<PlannedOutput, Known>();

function resultsOf(plan: ModelPlan, outputs: readonly OutputTensor[], batch: GatheredBatch): readonly Result[] {
  const { total } = batch;
  const results: Result[] = [];
  for (let i = 0; i < plan.outputs.length; i++) {
    const [planned, tensor] = [plan.outputs[i], outputs[i]];
    if (planned === undefined) continue;
    const { name, cutLike } = planned.spec;
    if (tensor === undefined) {
      const message = `model '${plan.modelName}': the run gave no result for output '${name}'`;
      throw new PyTorchBackendError({ code: 'INTERNAL', reason: 'output', message });
    }
    const { data, offsets, shape } = tensor;
    if (cutLike !== undefined) {
      const datatype = clientDatatype({ plan, planned, tensor, rows: total });
      const pieces = cutRagged(plan, batch, { planned, shape, byteLength: data.byteLength });
      results.push({ name, datatype, dims: [], data, rowBytes: 0, offsets, pieces });
      continue;
    }
    const { datatype, dims } = find({ plan, planned, tensor, rows: total });
    results.push({ name, datatype, dims, data, rowBytes: data.byteLength / total, offsets });
  }
  return results;
}

/** Datatype and dimensions as clients see them. */
function find(check: OutputCheck): Known['found'] {
  const { planned, rows: total } = check;
  const { shape, datatype } = check.tensor;
  const known = KNOWN.get(planned);
  if (known?.shape === shape && known.datatype === datatype && known.total === total) return known.found;
  const found = { datatype: clientDatatype(check), dims: clientDims(check) };
  KNOWN.set(planned, { shape, datatype, total, found });
  return found;
}

interface Cut {
  readonly results: readonly Result[];
  readonly request: InferenceRequest;
  /** Which of the batch's requests it is. */
  readonly place: number;
  /** First row of the request, and how many it has. */
  readonly row: number;
  readonly rows: number;
}

function cut(plan: ModelPlan, { results, request, place, row, rows }: Cut): Tensor[] | PyTorchBackendError {
  const tensors: Tensor[] = [];
  for (const { name, datatype, dims, data, rowBytes, offsets, pieces } of results) {
    if (!request.wants(name)) continue;
    const piece = pieces?.[place];
    if (piece instanceof PyTorchBackendError) return piece;
    if (piece !== undefined) {
      const { shape, start, end } = piece;
      tensors.push({ name, datatype, shape, data: new Uint8Array(data, start, end - start) });
      continue;
    }
    const whole = plan.maxBatchSize === 0;
    const start = whole ? 0 : (offsets?.[row] ?? row * rowBytes);
    const end = whole ? data.byteLength : (offsets?.[row + rows] ?? (row + rows) * rowBytes);
    const shape = whole ? dims : [rows, ...dims];
    tensors.push({ name, datatype, shape, data: new Uint8Array(data, start, end - start) });
  }
  return tensors;
}
