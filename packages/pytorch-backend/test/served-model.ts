import { basename, dirname, isAbsolute } from 'node:path';
import {
  datatypeToConfig,
  type ExecutionReport,
  type InferenceRequest,
  type InferenceServerError,
  type InstanceKind,
  type InstanceSpec,
  isDatatype,
  type Logger,
  type ModelInstance,
  silentLogger,
  type Tensor,
} from '@nereid/core';
import { createModelConfig, type DataType, type Init, type ModelConfig } from '@nereid/model-config';
import { RecordingResponder, requestFor, testModel } from '@nereid/testing';
import { PyTorchBackend, type PyTorchModel } from '../src/index.ts';

export interface ServeOptions {
  /** `<test model>/<file>`, or an absolute path. */
  readonly file: string;
  /** 'm' by default. */
  readonly name?: string;
  readonly config: Init<ModelConfig>;
  readonly instances?: number;
  readonly kind?: InstanceKind;
  readonly logger?: Logger;
  readonly cores?: number;
}

/** `x FP32 -1 3`: name, datatype, dims. */
function tensorConfig(text: string): { name: string; dataType: DataType; dims: number[] } {
  const [name = '', datatype = '', ...dims] = text.split(' ');
  return { name, dataType: isDatatype(datatype) ? datatypeToConfig(datatype) : 'TYPE_INVALID', dims: dims.map(Number) };
}

export function inputsAndOutputs(inputs: readonly string[], outputs: readonly string[]): Init<ModelConfig> {
  return { input: inputs.map(tensorConfig), output: outputs.map(tensorConfig) };
}

/** Absolute path of `<test model>/<file>`; an absolute path stays. */
export function modelFile(file: string): string {
  return isAbsolute(file) ? file : `${testModel(dirname(file))}/${basename(file)}`;
}

/** A model that was loaded by the backend, with its instances; close it, or hold it with `await using`. */
export class ServedModel {
  readonly reports: readonly ExecutionReport[];
  readonly responder = new RecordingResponder();
  readonly model: PyTorchModel;
  readonly instances: readonly ModelInstance[];

  private constructor(init: Pick<ServedModel, 'model' | 'instances' | 'reports'>) {
    this.model = init.model;
    this.instances = init.instances;
    this.reports = init.reports;
  }

  static async load(options: ServeOptions): Promise<ServedModel> {
    const { config, name = 'm', instances = 1, kind = 'KIND_CPU', logger = silentLogger, cores = 2 } = options;
    const path = modelFile(options.file);
    const specs = Array.from(
      { length: instances },
      (_, i): InstanceSpec => ({ name: `${name}_${i}`, kind, deviceId: 0 }),
    );
    const model = await new PyTorchBackend({ cores }).load({
      name,
      version: '1',
      modelDirectory: dirname(dirname(path)),
      versionDirectory: dirname(path),
      config: createModelConfig({ name, backend: 'pytorch', defaultModelFilename: basename(path), ...config }),
      instances: specs,
      logger,
    });
    const reports: ExecutionReport[] = [];
    const report = (execution: ExecutionReport) => reports.push(execution);
    const opened = await Promise.all(specs.map((spec) => model.createInstance({ spec, report })));
    return new ServedModel({ model, instances: opened, reports });
  }

  instance(index = 0): ModelInstance {
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
