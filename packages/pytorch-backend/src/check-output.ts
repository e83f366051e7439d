/** Checks of a result against the configuration, before a request gets a part of it: rows that the batch did not produce are never returned. */
import { DATATYPES, type Datatype, datatypeToConfig, formatShape, type Shape } from '@nereid/core';
import type { OutputTensor } from '@nereid/native';
import { PyTorchBackendError } from './errors.ts';
import type { ModelPlan, PlannedOutput } from './model-plan.ts';
import { reshaped } from './tensor-spec.ts';

const DATATYPE_OF = new Map<number, Datatype>(
  (Object.keys(DATATYPES) as Datatype[]).map((datatype) => [DATATYPES[datatype].configNumber, datatype]),
);

export interface OutputCheck {
  readonly plan: ModelPlan;
  readonly planned: PlannedOutput;
  readonly tensor: OutputTensor;
  /** Rows of the batch. */
  readonly rows: number;
}

/**
 * The datatype of a result.
 * @throws {PyTorchBackendError} `output`: not the configured one, or one that no client can be given
 */
export function clientDatatype({ planned, tensor }: OutputCheck): Datatype {
  const { name, datatype: expected } = planned.spec;
  const found = DATATYPE_OF.get(tensor.datatype);
  if (found !== undefined && (expected === undefined || expected === found)) return found;
  const provided = found === undefined ? 'TYPE_INVALID' : datatypeToConfig(found);
  throw outputError(
    'INVALID_ARG',
    expected === undefined
      ? `output '${name}' has a datatype that cannot be returned; convert it in forward`
      : `configuration expects datatype ${datatypeToConfig(expected)} for output '${name}', model provides ${provided}`,
  );
}

/**
 * The dimensions of a result as clients see them, without the batch dimension.
 * @throws {PyTorchBackendError} `output`: a rank or number of rows that cannot be split, or a shape that the reshape does not fit
 */
export function clientDims(check: OutputCheck): Shape {
  return reshapedDims(check, check.plan.maxBatchSize === 0 ? check.tensor.shape : itemDims(check));
}

/**
 * The dimensions of a batching model's result without the batch dimension.
 * @throws {PyTorchBackendError} `output`: a rank or number of rows that cannot be split
 */
export function itemDims(check: OutputCheck): Shape {
  const { planned, tensor, rows } = check;
  const [found, ...dims] = tensor.shape;
  if (found === undefined) {
    throw outputError('INVALID_ARG', `output '${planned.spec.name}' is a scalar which is not supported.`);
  }
  if (found !== rows) throw wrongRows(check, found);
  return dims;
}

function reshapedDims({ planned, tensor }: OutputCheck, dims: Shape): Shape {
  const { name, dims: declared, reshape } = planned.spec;
  if (declared === undefined || reshape === undefined) return dims;
  const shown = reshaped(dims, { from: reshape, to: declared });
  if (shown !== undefined && product(shown) === product(dims)) return shown;
  throw outputError(
    'INTERNAL',
    `output '${name}' has shape ${formatShape(tensor.shape)}, which the configuration's reshape ${formatShape(reshape)} to ` +
      `${formatShape(declared)} does not fit`,
  );
}

function wrongRows({ plan, planned, tensor, rows }: OutputCheck, found: number): PyTorchBackendError {
  const { name } = planned.spec;
  const shape = formatShape(tensor.shape);
  if (plan.engine === 'torchscript' && found < rows) {
    return outputError(
      'INTERNAL',
      `failed to split the output tensor '${name}' in responses: expected batch size of at least ${rows} in model output, got ${found}. ` +
        `Dimension 0 of its shape ${shape} is taken for the batch: let forward return one row per input row, or set max_batch_size to 0.`,
    );
  }
  const why =
    plan.engine === 'aoti'
      ? 'the package does not have a dynamic batch dimension there: export it with a dynamic dimension 0 on every input'
      : 'forward must return one row per input row';
  return outputError(
    'INTERNAL',
    `output '${name}' has shape ${shape}, but the batch has ${rows} rows: ${why}, or set max_batch_size to 0`,
  );
}

function product(shape: Shape): number {
  return shape.reduce((size, dim) => size * dim, 1);
}

function outputError(code: 'INVALID_ARG' | 'INTERNAL', message: string): PyTorchBackendError {
  return new PyTorchBackendError({ code, reason: 'output', message });
}
