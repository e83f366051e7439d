/** Loads a model of the contract, opens instances, remembers what they report, and closes everything in order. */
import {
  type Backend,
  type ExecutionReport,
  type InferenceRequest,
  type InstanceSpec,
  type LoadedModel,
  type ModelContext,
  type ModelInstance,
  silentLogger,
  type Tensor,
} from '@nereid/core';
import { requestFor, tensor } from './builders.ts';
import { RecordingResponder } from './recording-responder.ts';

/** Where a model of the contract lies and how it is configured; the suite adds instances and logger. */
export type ContractModel<Config> = Omit<ModelContext<Config>, 'instances' | 'logger'>;

export interface ContractNames {
  readonly a: string;
  readonly b: string;
  readonly sum: string;
  readonly diff: string;
  /** Input and output of the identity model. */
  readonly x: string;
  readonly y: string;
}

export class OpenModel {
  readonly reports: ExecutionReport[] = [];
  readonly responder = new RecordingResponder();
  readonly #model: LoadedModel;
  readonly #instances: ModelInstance[] = [];
  readonly #names: ContractNames;
  #isClosed = false;

  private constructor(model: LoadedModel, names: ContractNames) {
    this.#model = model;
    this.#names = names;
  }

  static async open<Config>(
    backend: Backend<Config>,
    model: ContractModel<Config>,
    options: { readonly names: ContractNames; readonly instances: number },
  ): Promise<OpenModel> {
    const specs = Array.from(
      { length: options.instances },
      (_, i): InstanceSpec => ({ name: `${model.name}_${i}`, kind: 'KIND_CPU', deviceId: 0 }),
    );
    const loaded = await backend.load({ ...model, instances: specs, logger: silentLogger });
    const opened = new OpenModel(loaded, options.names);
    for (const spec of specs) {
      const report = (execution: ExecutionReport) => opened.reports.push(execution);
      opened.#instances.push(await loaded.createInstance({ spec, report }));
    }
    return opened;
  }

  instance(index = 0): ModelInstance {
    const found = this.#instances[index];
    if (found === undefined)
      throw new RangeError(`${this.#instances.length} instances are open, none has index ${index}`);
    return found;
  }

  validate(request: InferenceRequest): void {
    this.#model.validate?.(request);
  }

  /** Rows of two values each; every value of row r is `first + r` in a and 0.5 in b. */
  addSub(init: {
    readonly rows: number;
    readonly first: number;
    readonly outputs?: readonly string[];
  }): InferenceRequest {
    const { rows, first, outputs = [] } = init;
    const shape = [rows, COLUMNS];
    const a = Array.from({ length: rows * COLUMNS }, (_, i) => first + Math.floor(i / COLUMNS));
    return this.request({
      batchSize: rows,
      requestedOutputs: outputs,
      inputs: [
        tensor({ name: this.#names.a, shape, values: a }),
        tensor({ name: this.#names.b, shape, values: a.map(() => 0.5) }),
      ],
    });
  }

  /** An add-sub request that cannot be computed: its inputs have different widths. */
  failing(): InferenceRequest {
    return this.request({
      inputs: [
        tensor({ name: this.#names.a, shape: [1, COLUMNS], values: [1, 2] }),
        tensor({ name: this.#names.b, shape: [1, COLUMNS + 1], values: [1, 2, 3] }),
      ],
    });
  }

  request(init: {
    inputs: readonly Tensor[];
    batchSize?: number;
    requestedOutputs?: readonly string[];
  }): InferenceRequest {
    return requestFor({ ...init, responder: this.responder });
  }

  /** Runs requests as one batch and waits for every answer. */
  async run(requests: readonly InferenceRequest[], index = 0): Promise<void> {
    await this.instance(index).execute(requests);
    await this.settled(requests);
  }

  async settled(requests: readonly InferenceRequest[]): Promise<void> {
    await Promise.all(requests.map((request) => this.responder.finalOf(request)));
  }

  /** Outputs of an answered request by name, as copies. */
  async outputs(request: InferenceRequest): Promise<Map<string, Tensor>> {
    const { outputs } = await this.responder.responseOf(request);
    return new Map(outputs.map((output) => [output.name, { ...output, data: new Uint8Array(output.data) }]));
  }

  /** Idempotent, so that a test may close early and the suite closes what is left. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.all(this.#instances.map((instance) => instance.close()));
    await this.#model.close();
  }
}

const COLUMNS = 2;
