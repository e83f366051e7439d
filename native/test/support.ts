/** Opens the models of `native_torchscript` and `native_aoti` and runs batches on them. */
import { join } from 'node:path';
import type {
  AotiPackage,
  Batch,
  Instance,
  InstanceOptions,
  Outcome,
  OutputTensor,
  TorchScriptModule,
} from '@nereid/native';
import { loadAoti, loadTorchScript } from '@nereid/native';
import { testModel } from '@nereid/testing';

export const TYPE_FP32 = 11;
export const TYPE_STRING = 13;
export const CPU = -1;

export const scripted = (name: string): string => join(testModel('native_torchscript'), `${name}.pt`);
export const compiled = (name: string): string => join(testModel('native_aoti'), `${name}.pt2`);

export type Setup = Partial<Omit<InstanceOptions, 'onComplete'>>;

/** One FP32 input, the first result, no batching. */
export const DEFAULTS: Omit<InstanceOptions, 'onComplete'> = {
  name: 'test',
  intraOpThreads: 1,
  inferenceMode: true,
  optimizedExecution: true,
  inputs: [{ datatype: TYPE_FP32, key: '' }],
  outputs: [{ index: 0, key: '' }],
  batching: false,
};

/** An instance whose batches are promises. */
export class Runner implements AsyncDisposable {
  readonly instance: Instance;
  readonly #waiting: { resolve: (outcome: Outcome) => void; reject: (error: unknown) => void }[] = [];

  constructor(model: TorchScriptModule | AotiPackage, setup: Setup = {}) {
    this.instance = model.createInstance({
      ...DEFAULTS,
      ...setup,
      onComplete: (error, outcome) => {
        const next = this.#waiting.shift();
        if (outcome === undefined) next?.reject(error);
        else next?.resolve(outcome);
      },
    });
  }

  run(batch: Batch): Promise<Outcome> {
    this.instance.execute(batch);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.instance.close();
  }
}

/** A model with one instance; both are closed at the end of the block. */
export class Session extends Runner {
  readonly #model: TorchScriptModule | AotiPackage;

  private constructor(model: TorchScriptModule | AotiPackage, setup: Setup) {
    super(model, setup);
    this.#model = model;
  }

  static async torchScript(name: string, setup: Setup = {}): Promise<Session> {
    return new Session(await openTorchScript(name), setup);
  }

  static async aoti(name: string, setup: Setup = {}): Promise<Session> {
    return new Session(await openAoti(name), setup);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.#model.close();
  }
}

export function openTorchScript(name: string): Promise<TorchScriptModule> {
  return loadTorchScript({ path: scripted(name), inferenceMode: true, device: CPU });
}

export function openAoti(name: string, numRunners = 1): Promise<AotiPackage> {
  return loadAoti({ path: compiled(name), modelName: 'model', numRunners, device: CPU });
}

export function bytes(...values: readonly number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(values).buffer);
}

/** A batch of one request without batching: every input a vector. */
export function vectors(...inputs: readonly Uint8Array[]): Batch {
  return { buffers: inputs, rows: [1], shapes: inputs.flatMap((input) => [1, input.byteLength / 4]) };
}

/** One FP32 input of the given shape, without batching. */
export function shaped(shape: readonly number[], values: readonly number[]): Batch {
  return { buffers: [bytes(...values)], rows: [1], shapes: [shape.length, ...shape] };
}

export function numbers(output: OutputTensor | undefined): readonly number[] {
  return [...new Float32Array(only(output).data)];
}

/** What is there, or a failed test. */
export function only<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('there is no such output');
  return value;
}

/** Elements of TYPE_STRING on the wire: 4-byte little-endian length and UTF-8 bytes. */
export function stringBytes(...texts: readonly string[]): Uint8Array {
  return Buffer.concat(
    texts.flatMap((text) => {
      const body = Buffer.from(text);
      const head = Buffer.alloc(4);
      head.writeUInt32LE(body.length);
      return [head, body];
    }),
  );
}

export function strings(output: OutputTensor | undefined): readonly string[] {
  const { data, offsets = [] } = only(output);
  return offsets.slice(0, -1).map((start, i) => Buffer.from(data.slice(start + 4, offsets[i + 1])).toString());
}
