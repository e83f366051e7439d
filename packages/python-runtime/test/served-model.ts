import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  datatypeToConfig,
  type ExecutionReport,
  type InferenceRequest,
  InferenceServerError,
  type InstanceKind,
  type InstanceSpec,
  isDatatype,
  type Logger,
  type ResponseReport,
  silentLogger,
  type Tensor,
} from '@nereid/core';
import { createModelConfig, type DataType, type Init, type ModelConfig } from '@nereid/model-config';
import { RecordingResponder, requestFor, tensor, usePython } from '@nereid/testing';
import {
  type PythonInstance,
  type PythonModel,
  PythonRuntimeBackend,
  type PythonRuntimeOptions,
} from '../src/index.ts';

const MODELS = join(dirname(fileURLToPath(import.meta.url)), 'models');

/** `torch.compile` does nothing: compiling takes longer than every test together. */
export const NOT_COMPILED = { TORCH_COMPILE_OPTIONAL_PARAMETERS: '{"disable": true}' };

export interface ServeOptions {
  /** File in `test/models`, or an absolute path. */
  readonly file: string;
  readonly config?: Init<ModelConfig>;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly instances?: number;
  readonly kind?: InstanceKind;
  readonly logger?: Logger;
  readonly backend?: PythonRuntimeOptions;
}

/** `x FP32 -1 3`: name, datatype, dims. */
function tensorConfig(text: string): { name: string; dataType: DataType; dims: number[] } {
  const [name = '', datatype = '', ...dims] = text.split(' ');
  return { name, dataType: isDatatype(datatype) ? datatypeToConfig(datatype) : 'TYPE_INVALID', dims: dims.map(Number) };
}

export function inputsAndOutputs(inputs: readonly string[], outputs: readonly string[]): Init<ModelConfig> {
  return { input: inputs.map(tensorConfig), output: outputs.map(tensorConfig) };
}

export function parameterMap(parameters: Readonly<Record<string, string>>) {
  return new Map(Object.entries(parameters).map(([key, stringValue]) => [key, { stringValue }]));
}

/** A model that was loaded by the backend, with its instances; close it, or hold it with `await using`. */
export class ServedModel {
  readonly responder = new RecordingResponder();
  readonly model: PythonModel;
  readonly instances: readonly PythonInstance[];
  readonly reports: readonly ExecutionReport[];
  readonly responses: readonly ResponseReport[];

  private constructor(init: Pick<ServedModel, 'model' | 'instances' | 'reports' | 'responses'>) {
    this.model = init.model;
    this.instances = init.instances;
    this.reports = init.reports;
    this.responses = init.responses;
  }

  static async load(options: ServeOptions): Promise<ServedModel> {
    const { config, instances = 1, kind = 'KIND_CPU', logger = silentLogger } = options;
    const path = join(options.file.startsWith('/') ? '' : MODELS, options.file);
    const specs = Array.from({ length: instances }, (_, i): InstanceSpec => ({ name: `m_${i}`, kind, deviceId: 0 }));
    const model = await new PythonRuntimeBackend({ python: usePython(), ...options.backend }).load({
      name: 'm',
      version: '1',
      modelDirectory: dirname(dirname(path)),
      versionDirectory: dirname(path),
      config: createModelConfig({
        name: 'm',
        backend: 'pytorch',
        runtime: 'model.py',
        defaultModelFilename: basename(path),
        parameters: parameterMap({ ...NOT_COMPILED, ...options.parameters }),
        ...config,
      }),
      instances: specs,
      logger,
    });
    const reports: ExecutionReport[] = [];
    const report = (execution: ExecutionReport) => reports.push(execution);
    const responses: ResponseReport[] = [];
    const reportResponse = (response: ResponseReport) => responses.push(response);
    const opened: PythonInstance[] = [];
    for (const spec of specs) opened.push(await model.createInstance({ spec, report, reportResponse }));
    return new ServedModel({ model, instances: opened, reports, responses });
  }

  instance(index = 0): PythonInstance {
    const found = this.instances[index];
    if (found === undefined) throw new RangeError(`no instance ${index}`);
    return found;
  }

  request(inputs: readonly Tensor[], requestedOutputs: readonly string[] = []): InferenceRequest {
    return requestFor({ inputs, requestedOutputs, responder: this.responder });
  }

  /** Runs requests together; outputs of each by name. */
  async run(...requests: readonly InferenceRequest[]): Promise<ReadonlyMap<string, Tensor>[]> {
    await this.instance().execute(requests);
    const responses = await Promise.all(requests.map((request) => this.responder.responseOf(request)));
    return responses.map(({ outputs }) => new Map(outputs.map((output) => [output.name, output])));
  }

  /** Runs one request that must succeed; its outputs by name. */
  async infer(...inputs: readonly Tensor[]): Promise<ReadonlyMap<string, Tensor>> {
    const [outputs] = await this.run(this.request(inputs));
    return outputs ?? new Map();
  }

  /** Runs one request that must fail; its error. */
  async failure(...inputs: readonly Tensor[]): Promise<InferenceServerError> {
    const request = this.request(inputs);
    await this.instance().execute([request]);
    return this.errorOf(request);
  }

  /** What a request failed with, once it did. */
  async errorOf(request: InferenceRequest): Promise<InferenceServerError> {
    const { error } = await this.responder.finalOf(request);
    if (error === undefined) throw new Error('the request was answered');
    return error;
  }

  async close(): Promise<void> {
    await Promise.all(this.instances.map((instance) => instance.close()));
    await this.model.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** What loading or starting a model fails with. */
export async function loadFailure(options: ServeOptions): Promise<InferenceServerError> {
  try {
    await (await ServedModel.load(options)).close();
  } catch (thrown) {
    if (thrown instanceof InferenceServerError) return thrown;
    throw thrown;
  }
  throw new Error('the model was loaded');
}

/** One row of FP32 values named `x`. */
export function row(...values: readonly number[]): Tensor {
  return tensor({ name: 'x', shape: [1, values.length], values });
}
