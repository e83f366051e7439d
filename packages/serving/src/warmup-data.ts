/** Makes the tensors of warmup samples: zeros, random values, or a file of the model's `warmup` directory. */
import { randomFillSync } from 'node:crypto';
import { join } from 'node:path';
import { type Datatype, datatypeFromConfig, elementCount, expectedByteSize, type Tensor } from '@nereid/core';
import type { ModelConfig, ModelWarmup, ModelWarmupInput } from '@nereid/model-config';
import { readLimited, resolveInside } from '@nereid/repository';
import { ServingError } from './errors.ts';

/** A sample ready to run. The tensors are shared by every request made of it. */
export interface WarmupSample {
  readonly name: string;
  /** Requests that run together. */
  readonly batchSize: number;
  /** Runs one after another. */
  readonly count: number;
  readonly inputs: readonly Tensor[];
}

export interface WarmupPlace {
  readonly modelDirectory: string;
  /** Largest data file, and largest tensor made. */
  readonly maxBytes: number;
}

/**
 * Makes every sample of a configuration; one with batch size 0 is left out.
 * @param config  validated: dims are fixed, each input has data, files are named inside the directory
 * @throws {InferenceServerError} when a sample cannot be made; the message names sample and input
 */
export async function warmupSamples(config: ModelConfig, place: WarmupPlace): Promise<readonly WarmupSample[]> {
  const samples: WarmupSample[] = [];
  for (const warmup of config.modelWarmup) {
    if (warmup.batchSize > 0) samples.push(await makeSample(config, { warmup, place }));
  }
  return samples;
}

async function makeSample(
  config: ModelConfig,
  from: { readonly warmup: ModelWarmup; readonly place: WarmupPlace },
): Promise<WarmupSample> {
  const { name, batchSize, count } = from.warmup;
  const largest = Math.max(1, config.maxBatchSize);
  if (batchSize > largest) {
    throw fault(name, `its batch_size is ${batchSize}; the model takes ${largest} at most`);
  }
  const inputs: Tensor[] = [];
  for (const [inputName, input] of from.warmup.inputs) {
    inputs.push(
      await makeTensor(
        { sample: name, name: inputName, input, leading: config.maxBatchSize > 0 ? [1] : [] },
        from.place,
      ),
    );
  }
  return { name, batchSize, count: Math.max(1, count), inputs };
}

interface TensorSource {
  readonly sample: string;
  readonly name: string;
  readonly input: ModelWarmupInput;
  /** `[1]` for a batching model: every request of a sample has one row. */
  readonly leading: readonly number[];
}

async function makeTensor(source: TensorSource, place: WarmupPlace): Promise<Tensor> {
  const { name, input, sample } = source;
  const datatype = datatypeFromConfig(input.dataType);
  if (datatype === undefined) throw fault(sample, `input '${name}' needs a data_type`);
  const shape = [...source.leading, ...input.dims];
  const byteSize = expectedByteSize(datatype, shape) ?? elementCount(shape) * 4;
  if (byteSize > place.maxBytes)
    throw fault(sample, `input '${name}' has ${byteSize} bytes; at most ${place.maxBytes} are made`);
  return { name, datatype, shape, data: await makeData({ ...source, datatype, byteSize }, place) };
}

async function makeData(
  source: TensorSource & { readonly datatype: Datatype; readonly byteSize: number },
  place: WarmupPlace,
): Promise<Uint8Array> {
  const { input, datatype, byteSize } = source;
  if (input.inputDataFile !== undefined) return readDataFile({ ...source, file: input.inputDataFile }, place);
  // The value of zero_data and random_data does not count, only which of them is there. Strings are empty ones: a length of 0 each.
  if (input.randomData === undefined || datatype === 'BYTES') return new Uint8Array(byteSize);
  return randomData(datatype, byteSize);
}

async function readDataFile(
  source: TensorSource & { readonly datatype: Datatype; readonly byteSize: number; readonly file: string },
  place: WarmupPlace,
): Promise<Uint8Array> {
  const path = await resolveInside(join(place.modelDirectory, 'warmup'), source.file);
  const bytes = await readLimited(path, place.maxBytes);
  if (source.datatype === 'BYTES') return bytes;
  if (bytes.byteLength < source.byteSize) {
    throw fault(
      source.sample,
      `'${path}' has ${bytes.byteLength} bytes; input '${source.name}' needs ${source.byteSize}`,
    );
  }
  return bytes.subarray(0, source.byteSize);
}

/** Bits that are kept of the two most significant bytes of a float, so that it lies in [0, 1) and is never NaN. */
const FLOAT_MASKS: Partial<Record<Datatype, number>> = { FP16: 0x3bff, BF16: 0x3f7f, FP32: 0x3f7f, FP64: 0x3fef };

function randomData(datatype: Datatype, byteSize: number): Uint8Array {
  const data = randomFillSync(new Uint8Array(byteSize));
  if (datatype === 'BOOL') return data.map((byte) => byte & 1);
  const mask = FLOAT_MASKS[datatype];
  if (mask === undefined) return data;
  const elementSize = expectedByteSize(datatype, []) ?? 1;
  const view = new DataView(data.buffer);
  for (let end = elementSize; end <= byteSize; end += elementSize) {
    view.setUint16(end - 2, view.getUint16(end - 2, true) & mask, true);
  }
  return data;
}

function fault(sample: string, message: string): ServingError {
  return new ServingError('warmup-failed', `warmup sample '${sample}': ${message}`);
}
