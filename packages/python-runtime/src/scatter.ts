/** Splits the results of a call among its requests: each gets views of its own rows, in the order of the configuration. */
import {
  datatypeToConfig,
  formatShape,
  type InferenceRequest,
  type InferenceResponse,
  type Shape,
  type Tensor,
} from '@nereid/core';
import { PythonRuntimeError } from './errors.ts';
import type { Batch } from './gather.ts';
import type { ModelPlan, TensorPlan } from './model-plan.ts';
import { reshaped } from './reshape.ts';
import type { IncomingTensor } from './transport/index.ts';

/** Positions of the outputs that at least one request wants. */
export function wantedOutputs(plan: ModelPlan, requests: readonly InferenceRequest[]): readonly number[] {
  return [...plan.outputs.keys()].filter((position) =>
    requests.some((request) => request.wants(plan.outputs[position]?.name ?? '')),
  );
}

export interface Scattering {
  readonly plan: ModelPlan;
  readonly batch: Batch;
  /** Positions of the outputs that came back. */
  readonly wanted: readonly number[];
  /** One for each of them. */
  readonly tensors: readonly IncomingTensor[];
}

/**
 * One response per request, in their order.
 * @throws {PythonRuntimeError} `output`: a datatype, rank or number of rows that the configuration does not promise
 */
export function scatter({ plan, batch, wanted, tensors }: Scattering): readonly InferenceResponse[] {
  const results = wanted.flatMap((position, i) => {
    const output = plan.outputs[position];
    const tensor = tensors[i];
    return output === undefined || tensor === undefined
      ? []
      : [checkResult(plan, { output, tensor, rows: batch.total })];
  });
  let row = 0;
  return batch.requests.map((request, i) => {
    const rows = batch.rows[i] ?? 0;
    const outputs = results.filter(({ name }) => request.wants(name)).map((result) => cut(plan, { result, row, rows }));
    row += rows;
    return { modelName: plan.modelName, modelVersion: plan.modelVersion, outputs };
  });
}

/** The answer to requests without rows: every output with 0 rows, and 0 for variable dimensions. */
export function emptyResponse(plan: ModelPlan, request: InferenceRequest): InferenceResponse {
  const outputs = plan.outputs
    .filter(({ name }) => request.wants(name))
    .map(({ name, datatype, dims }) => {
      return { name, datatype, shape: [0, ...dims.map((dim) => Math.max(dim, 0))], data: new Uint8Array(0) };
    });
  return { modelName: plan.modelName, modelVersion: plan.modelVersion, outputs };
}

/** One output of the whole batch, with its shape as clients see it, batch dimension left out. */
interface Result {
  readonly name: string;
  readonly tensor: IncomingTensor;
  readonly dims: Shape;
  readonly rowBytes: number;
}

interface Check {
  readonly output: TensorPlan;
  readonly tensor: IncomingTensor;
  readonly rows: number;
}

function checkResult(plan: ModelPlan, { output, tensor, rows }: Check): Result {
  const { name } = output;
  if (tensor.datatype !== output.datatype) {
    const [expected, found] = [datatypeToConfig(output.datatype), datatypeToConfig(tensor.datatype)];
    throw fault(
      'INVALID_ARG',
      `configuration expects datatype ${expected} for output '${name}', model provides ${found}`,
    );
  }
  if (plan.maxBatchSize === 0)
    return { name, tensor, dims: clientDims(output, tensor.shape), rowBytes: tensor.data.byteLength };
  const [found, ...dims] = tensor.shape;
  if (found === undefined) throw fault('INVALID_ARG', `output '${name}' is a scalar which is not supported.`);
  if (found !== rows) {
    const shape = formatShape(tensor.shape);
    const what = `output '${name}' has shape ${shape}, but the batch has ${rows} rows: forward must return one row per input row`;
    throw fault('INTERNAL', `${what}, or set max_batch_size to 0`);
  }
  return { name, tensor, dims: clientDims(output, dims), rowBytes: tensor.data.byteLength / rows };
}

function clientDims({ name, dims, reshape }: TensorPlan, shape: Shape): Shape {
  if (reshape === undefined) return shape;
  const shown = reshaped(shape, { from: reshape, to: dims });
  if (shown !== undefined) return shown;
  const forms = `${formatShape(reshape)} to ${formatShape(dims)}`;
  throw fault(
    'INTERNAL',
    `output '${name}' has shape ${formatShape(shape)}, which the configuration's reshape ${forms} does not fit`,
  );
}

function cut(
  plan: ModelPlan,
  { result, row, rows }: { readonly result: Result; readonly row: number; readonly rows: number },
): Tensor {
  const { name, tensor, dims, rowBytes } = result;
  const { datatype, data } = tensor;
  if (plan.maxBatchSize === 0) return { name, datatype, shape: dims, data };
  return { name, datatype, shape: [rows, ...dims], data: data.subarray(row * rowBytes, (row + rows) * rowBytes) };
}

function fault(code: 'INVALID_ARG' | 'INTERNAL', message: string): PythonRuntimeError {
  return new PythonRuntimeError({ code, reason: 'output', message });
}
