import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DATATYPES, type InstanceContext, type InstanceSpec, type LoadedModel, type Logger } from '@nereid/core';
import type { ExecutionEnvironment } from './execution-environment.ts';
import { PythonInstance } from './instance.ts';
import type { ModelPlan } from './model-plan.ts';
import { ModelProcess, type ModelProcessOptions } from './model-process.ts';
import type { PythonParameters } from './parameters.ts';
import { startError } from './python-error.ts';
import type { Launch } from './supervisor/index.ts';
import { DEFAULT_MAX_BYTES } from './transport/index.ts';

/** Beside `src` and `dist` alike. */
const RUNTIME = fileURLToPath(new URL('../python/runtime.py', import.meta.url));

/** Bounds on the responses of decoupled models. */
interface ResponseLimits {
  /** Responses of a request that its client has not taken; its generator stands still until it takes one. */
  readonly maxUnreleased: number;
  /** Calls of `forward` that an instance runs side by side. */
  readonly maxStreams: number;
}

export interface PythonModelInit {
  readonly plan: ModelPlan;
  /** Absolute path of the model file. */
  readonly file: string;
  /** Holds the initial values of states. */
  readonly modelDirectory: string;
  readonly environment: ExecutionEnvironment;
  readonly parameters: PythonParameters;
  readonly process: ModelProcessOptions;
  readonly responses: ResponseLimits;
  readonly logger: Logger;
}

/** One loaded version of a model.py. Its code runs in the processes of its instances, and nowhere else. */
export class PythonModel implements LoadedModel {
  readonly threads: number;
  readonly #init: PythonModelInit;
  readonly #instances = new Set<PythonInstance>();

  constructor(init: PythonModelInit) {
    this.#init = init;
    this.threads = init.parameters.numThreads;
  }

  /**
   * Starts the process of an instance and waits until it has loaded the model.
   * @throws {PythonRuntimeError} `load` with the last lines of the traceback, `python` without torch, `start` when it ended or took too long
   */
  async createInstance(context: InstanceContext): Promise<PythonInstance> {
    const { plan, logger, responses } = this.#init;
    const process = this.#process(context.spec);
    try {
      await process.start();
    } catch (thrown) {
      await process.close();
      throw startError(plan.modelName, thrown);
    }
    const hasReadySibling = () => [...this.#instances].some((other) => other !== instance && other.isReady);
    const instance: PythonInstance = new PythonInstance({
      plan,
      context,
      logger,
      process,
      hasReadySibling,
      maxStreams: responses.maxStreams,
      maxUnreleased: responses.maxUnreleased,
    });
    this.#instances.add(instance);
    return instance;
  }

  /** Nothing is held outside the instances, which were closed before. */
  async close(): Promise<void> {}

  #process(spec: InstanceSpec): ModelProcess {
    const { plan, logger, process: options } = this.#init;
    return new ModelProcess({
      name: `the Python process of instance '${spec.name}'`,
      linePrefix: `${plan.modelName}: `,
      logFields: { model: plan.modelName, instance: spec.name },
      logger,
      options,
      launch: () => this.#launch(spec),
    });
  }

  #launch(spec: InstanceSpec): Omit<Launch, 'descriptors'> {
    const { environment, plan, file, modelDirectory, parameters, process: options } = this.#init;
    const start = {
      model: plan.modelName,
      path: file,
      outputs: plan.outputs.map(({ name }) => name),
      modelClass: parameters.modelClass ?? null,
      compileOptions: parameters.compileOptions,
      numThreads: parameters.numThreads,
      numInteropThreads: parameters.numInteropThreads,
      device: deviceOf(spec),
      maxBytes: options.transport?.maxBytes ?? DEFAULT_MAX_BYTES,
      decoupled: plan.isDecoupled,
      window: this.#init.responses.maxUnreleased,
      batching: plan.maxBatchSize > 0,
      iterative: plan.sequence?.isIterative ?? false,
      states: (plan.sequence?.states ?? []).map(({ input, outputName, initialDims, initialFile }) => ({
        input: input.name,
        output: outputName,
        datatype: DATATYPES[input.datatype].configNumber,
        dims: input.dims,
        initialDims,
        initialFile: initialFile === undefined ? null : join(modelDirectory, 'initial_state', initialFile),
      })),
    };
    return {
      command: environment.python,
      // Prints come out at once, and nothing is written beside the model.
      args: ['-u', '-B', RUNTIME],
      env: { ...process.env, ...environment.env },
      start: Buffer.from(JSON.stringify(start)),
    };
  }
}

/** Null for KIND_MODEL, where the model's own parameters decide. */
function deviceOf({ kind, deviceId }: InstanceSpec): string | null {
  switch (kind) {
    case 'KIND_CPU':
      return 'cpu';
    case 'KIND_GPU':
      return `cuda:${deviceId}`;
    case 'KIND_MODEL':
      return null;
  }
}
