/**
 * Runs a batching package with zeros before it is ready. A package that was exported with a fixed batch runs with any number of rows and
 * returns the rows it was exported with, so two sizes prove that dimension 0 follows the batch.
 */
import { expectedByteSize, type Logger, type Tensor } from '@nereid/core';
import type { DeclaredDim } from '@nereid/model-archive';
import type { Batch, Instance, InstanceOptions, Outcome } from '@nereid/native';
import { clientDatatype, clientDims } from './check-output.ts';
import { ABSENT, joinInputs } from './join-inputs.ts';
import type { ModelPlan } from './model-plan.ts';
import { executionError } from './native-error.ts';
import { writtenDims } from './sequence-states.ts';
import { modelDims } from './tensor-spec.ts';

export interface LoadCheck {
  readonly plan: ModelPlan;
  readonly open: (onComplete: InstanceOptions['onComplete']) => Instance;
  readonly logger: Logger;
}

/** Size of variable dimensions, where the package allows it. */
const VARIABLE_SIZE = 4;

/**
 * @throws {PyTorchBackendError} `output`: a result whose dimension 0 is not the batch
 */
export async function checkBatchDimension({ plan, open, logger }: LoadCheck): Promise<void> {
  for (const rows of batchSizes(plan.maxBatchSize)) {
    let outcome: Outcome;
    try {
      outcome = await runOnce(open, zeros(plan, rows));
    } catch (thrown) {
      // Zeros of a guessed size need not make sense to a model: that it refuses them says nothing about its batch dimension.
      const { message } = executionError({ plan, instanceName: plan.modelName, thrown });
      logger.warn(
        { model: plan.modelName },
        `the check of the batch dimension with ${rows} rows of zeros did not run: ${message}`,
      );
      return;
    }
    for (const [i, planned] of plan.outputs.entries()) {
      const tensor = outcome.outputs[i];
      if (tensor === undefined) continue;
      clientDatatype({ plan, planned, tensor, rows });
      if (planned.spec.cutLike === undefined) clientDims({ plan, planned, tensor, rows });
    }
    writtenDims(plan, { total: rows }, outcome.outputs.slice(plan.outputs.length));
  }
}

function batchSizes(maxBatchSize: number): readonly number[] {
  return maxBatchSize === 1 ? [1] : [2, 3].filter((rows) => rows <= maxBatchSize);
}

/** So many requests of one row each; states take their initial values. */
function zeros(plan: ModelPlan, requests: number): Batch {
  // As they reach the model, so that nothing is left to reshape.
  const inputs = plan.inputs.map((input) => ({
    ...input,
    spec: { ...input.spec, dims: modelDims(input.spec), reshape: undefined },
  }));
  const row = inputs.map(({ spec, declared }): Tensor => {
    const { name, datatype, source } = spec;
    if (source?.type === 'batch' || source?.type === 'state') return ABSENT;
    const dims = (spec.dims ?? []).map((dim, i) => (dim === -1 ? smallSize(declared?.shape?.[i + 1]) : dim));
    const shape = [1, ...dims];
    return { name, datatype, shape, data: new Uint8Array(expectedByteSize(datatype, shape) ?? 0) };
  });
  const tensors = new Array<readonly Tensor[]>(requests).fill(row).flat();
  return { ...joinInputs({ ...plan, inputs }, tensors), rows: new Array<number>(requests).fill(1) };
}

function smallSize(declared: DeclaredDim | undefined): number {
  if (typeof declared === 'number') return declared;
  return Math.min(Math.max(VARIABLE_SIZE, declared?.min ?? 0), declared?.max ?? VARIABLE_SIZE);
}

async function runOnce(open: LoadCheck['open'], batch: Batch): Promise<Outcome> {
  let instance: Instance | undefined;
  try {
    return await new Promise((resolve, reject) => {
      instance = open((error, outcome) => (outcome === undefined ? reject(error) : resolve(outcome)));
      instance.execute(batch);
    });
  } finally {
    await instance?.close();
  }
}
