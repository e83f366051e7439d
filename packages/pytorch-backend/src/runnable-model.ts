import {
  InferenceRequest,
  type InferenceResponse,
  type InferenceServerError,
  type InstanceSpec,
  type ModelInstance,
  type Responder,
  type Tensor,
  type WeightsReport,
  type WeightsSource,
} from '@nereid/core';
import type { DescribedInput } from './describe-file.ts';
import { PyTorchBackendError } from './errors.ts';
import type { PyTorchModel } from './model.ts';
import { fromTensor, type RunInput, type RunInputSpec, type RunOutput, toTensor } from './run-values.ts';

export interface RunnableModelInit {
  readonly model: PyTorchModel;
  readonly modelName: string;
  readonly inputs: readonly DescribedInput[];
  readonly outputs: readonly string[];
  readonly instances: readonly InstanceSpec[];
}

interface Worker {
  readonly instance: ModelInstance;
  running: number;
}

/** A loaded model to be run directly. Made by `loadModel`; to be closed, or held by `await using`. */
export class RunnableModel {
  /** Every input, in the order in which the model takes them. */
  readonly inputs: readonly RunInputSpec[];
  /** Names under which `run` returns results. */
  readonly outputs: readonly string[];
  /** Threads of one run. */
  readonly threads: number;

  readonly #model: PyTorchModel;
  readonly #modelName: string;
  readonly #workers: readonly Worker[];
  /** By name and by alias. */
  readonly #inputs: ReadonlyMap<string, RunInputSpec>;
  #closing: Promise<void> | undefined;

  private constructor(init: RunnableModelInit, workers: readonly Worker[]) {
    this.#model = init.model;
    this.#modelName = init.modelName;
    this.#workers = workers;
    this.inputs = init.inputs.map(({ name, datatype, shape, optional }) => ({ name, datatype, shape, optional }));
    this.outputs = init.outputs;
    this.threads = init.model.threads;
    this.#inputs = new Map(
      init.inputs.flatMap((input) => [input.name, ...input.aliases].map((name) => [name, input] as const)),
    );
  }

  /** @internal */
  static async open(init: RunnableModelInit): Promise<RunnableModel> {
    const contexts = init.instances.map((spec) => ({ spec, report() {} }));
    const workers = contexts.map(async (context) => ({
      instance: await init.model.createInstance(context),
      running: 0,
    }));
    return new RunnableModel(init, await Promise.all(workers));
  }

  /**
   * Runs the model once, on the instance with the least to do.
   *
   * @param inputs  every input under its name: `INPUT__0` or `ARGS[0]`, and for TorchScript the argument's name; not copied, so they must not
   *   change until the promise settles
   * @returns every result under its name; large ones are views of torch's memory, which is freed when they are collected
   * @throws {PyTorchBackendError} INVALID_ARG `request` before the run, `execution` or `output` after it, `closed`
   */
  async run(inputs: Readonly<Record<string, RunInput>>): Promise<Readonly<Record<string, RunOutput>>> {
    const request = this.#request(inputs);
    const worker = this.#workers.reduce((a, b) => (b.running < a.running ? b : a));
    worker.running++;
    try {
      await worker.instance.execute([request.request]);
      const { outputs } = request.responder.result();
      return Object.fromEntries(outputs.map((output) => [output.name, fromTensor(output)]));
    } finally {
      worker.running--;
    }
  }

  /**
   * Exchanges the weights of a compiled package while it runs: each run has either all old or all new ones, and one that is started once the promise has
   * resolved has the new.
   *
   * @param source  a file of `torch.save(model.state_dict(), file)` or safetensors, or tensors by the names of the state dict
   * @throws {PyTorchBackendError} `weights`, naming both sides; nothing has changed then
   */
  updateWeights(source: WeightsSource): Promise<WeightsReport> {
    return this.#model.updateWeights(source);
  }

  /** Waits for the runs in flight, then frees the model. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= Promise.all(this.#workers.map(({ instance }) => instance.close())).then(() =>
      this.#model.close(),
    );
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #request(values: Readonly<Record<string, RunInput>>): { request: InferenceRequest; responder: OneAnswer } {
    const responder = new OneAnswer();
    const inputs: Tensor[] = Object.entries(values).map(([name, value]) => {
      const spec = this.#inputs.get(name);
      if (spec === undefined) throw this.#unknownInput(name);
      return toTensor(spec, value);
    });
    const init = { modelName: this.#modelName, modelVersion: '', id: '', inputs, requestedOutputs: [] };
    return { request: new InferenceRequest(init, responder), responder };
  }

  #unknownInput(name: string): PyTorchBackendError {
    const known = this.inputs.map((input) => input.name).join(', ');
    const message = `'${this.#modelName}' has no input '${name}'; its inputs are ${known}`;
    return new PyTorchBackendError({ code: 'INVALID_ARG', reason: 'request', message });
  }
}

/** Holds the answer of a request that was executed to its end. */
class OneAnswer implements Responder {
  #response: InferenceResponse | undefined;
  #error: InferenceServerError | undefined;

  respond(_request: InferenceRequest, response: InferenceResponse | undefined): void {
    this.#response = response;
  }

  fail(_request: InferenceRequest, error: InferenceServerError): void {
    this.#error = error;
  }

  result(): InferenceResponse {
    if (this.#response !== undefined) return this.#response;
    throw this.#error;
  }
}
