import {
  DATATYPES,
  type InferenceRequest,
  type InstanceContext,
  type LoadedModel,
  type Logger,
  type ModelInstance,
  type WeightsReport,
  type WeightsSource,
} from '@nereid/core';
import type { InputSlot, InstanceOptions, StateSlot } from '@nereid/native';
import { checkRanges } from './check-inputs.ts';
import { PyTorchInstance } from './instance.ts';
import { type ModelPlan, type PlannedState, withBatch } from './model-plan.ts';
import type { ModelSetUp } from './model-set-up.ts';
import { deviceOf, type ModuleHandle, type ModulePool } from './module-pool.ts';
import type { PyTorchParameters } from './parameters.ts';
import type { SequenceMemory } from './sequence-states.ts';
import type { ReleaseBuffers } from './shared-response.ts';
import type { InputSource } from './tensor-spec.ts';
import { updateWeights } from './update-weights.ts';

export interface PyTorchModelInit {
  readonly plan: ModelPlan;
  readonly pool: ModulePool<ModuleHandle>;
  /** Taken down when the model is closed. */
  readonly setUp: ModelSetUp | undefined;
  readonly parameters: PyTorchParameters;
  readonly intraOpThreads: number;
  readonly logger: Logger;
  readonly releaseBuffers: ReleaseBuffers;
  readonly memory: SequenceMemory;
}

/** One loaded version of a TorchScript module or AOTInductor package. */
export class PyTorchModel implements LoadedModel {
  readonly threads: number;
  /** Absent when the file declares no shapes. */
  readonly validate?: (request: InferenceRequest) => void;

  readonly #init: PyTorchModelInit;
  #updated: Promise<unknown> = Promise.resolve();

  constructor(init: PyTorchModelInit) {
    const { plan } = init;
    this.#init = init;
    this.threads = init.intraOpThreads;
    if (plan.inputs.some(({ declared }) => declared !== undefined))
      this.validate = (request) => checkRanges(plan, request);
  }

  async createInstance(context: InstanceContext): Promise<ModelInstance> {
    const { plan, pool, logger, releaseBuffers, memory } = this.#init;
    const { name } = context.spec;
    const lease = await pool.acquire(deviceOf(context.spec));
    if (lease.reused && plan.engine === 'torchscript') {
      logger.info({ model: plan.modelName }, `Reusing TorchScript model for instance '${name}'`);
    }
    try {
      return new PyTorchInstance({
        plan,
        context,
        logger,
        releaseBuffers,
        memory,
        open: (onComplete) => lease.handle.createInstance(instanceOptions(this.#init, { name, onComplete })),
        dispose: lease.release,
      });
    } catch (thrown) {
      await lease.release();
      throw thrown;
    }
  }

  /**
   * Exchanges the weights of a compiled package while it runs; one call after the other. On several GPUs they change one after the other.
   * @throws {PyTorchBackendError} `weights`; nothing has changed then
   */
  updateWeights(source: WeightsSource): Promise<WeightsReport> {
    const { plan, pool, logger } = this.#init;
    const update = this.#updated.then(() => updateWeights({ modelName: plan.modelName, pool, logger }, source));
    this.#updated = update.catch(() => undefined);
    return update;
  }

  /** Frees the model. Every instance was closed before. Idempotent. */
  async close(): Promise<void> {
    await this.#updated;
    await this.#init.pool.close();
    await this.#init.setUp?.takeDown();
  }
}

/** What the addon must know to run a plan. */
export function instanceOptions(
  { plan, parameters, intraOpThreads }: Pick<PyTorchModelInit, 'plan' | 'parameters' | 'intraOpThreads'>,
  { name, onComplete }: Pick<InstanceOptions, 'name' | 'onComplete'>,
): InstanceOptions {
  return {
    name,
    intraOpThreads,
    inferenceMode: parameters.inferenceMode,
    optimizedExecution: parameters.optimizedExecution,
    cacheCleaning: parameters.cacheCleaning,
    inputs: plan.inputs.map(({ spec, key }) => {
      const datatype = DATATYPES[spec.datatype].configNumber;
      return { datatype, key, optional: spec.optional, source: SLOT_SOURCES[spec.source?.type ?? 'rows'] };
    }),
    outputs: plan.outputs.map(({ index, key }) => ({ index, key })),
    states: plan.states?.map((state) => stateSlot(plan, state)),
    batching: plan.maxBatchSize > 0,
    onComplete,
  };
}

/** How the addon makes up an input, by where it comes from. */
const SLOT_SOURCES = {
  rows: 'rows',
  control: 'rows',
  ragged: 'joined',
  batch: 'whole',
  state: 'state',
} as const satisfies Record<InputSource['type'] | 'rows', InputSlot['source']>;

function stateSlot(plan: ModelPlan, { spec, index, key }: PlannedState): StateSlot {
  const { output, initialDims, initial, isLent } = spec;
  const { configNumber: datatype } = DATATYPES[output.datatype];
  return { name: output.name, datatype, index, key, shape: withBatch(plan, 1, initialDims), initial, isLent };
}
