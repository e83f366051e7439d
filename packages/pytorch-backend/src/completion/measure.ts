/**
 * Learns what a file does not state of its outputs by running the model on zeros, twice with other sizes: what differs between the runs varies, and
 * a size that follows a dimension of the inputs in both is that dimension.
 */
import { DATATYPES, type Datatype, type InstanceSpec, silentLogger } from '@nereid/core';
import type { DeclaredDim, DeclaredTensor, DimRange } from '@nereid/model-archive';
import type { ModelConfig } from '@nereid/model-config';
import type { LocatedFile } from '../locate-file.ts';
import { loadNative, type Native } from '../native.ts';
import { type OpenModelRequest, openModel } from '../open-model.ts';
import { readParameters } from '../parameters.ts';
import type { NumericArray, RunInput, RunOutput } from '../run-values.ts';
import { RunnableModel } from '../runnable-model.ts';

/** An input as the model takes it, batch dimension included. */
export interface MeasuredInput {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: readonly DeclaredDim[];
}

/** The model to run. */
export interface MeasuredModel {
  readonly file: LocatedFile;
  readonly modelName: string;
  readonly modelVersion: string;
  /** `parameters` of its configuration. */
  readonly parameters: ModelConfig['parameters'];
  readonly instance: InstanceSpec;
  readonly cores: number;
  /** Opens the addon, with the operators that every model may call; the addon alone by default. */
  readonly openNative?: (() => Promise<Native>) | undefined;
  /** Operators of this model; none by default. */
  readonly operators?: OpenModelRequest['operators'];
}

/** What is to be learnt from a run. */
export interface Measurement {
  /** Every input, in the order of the configuration. */
  readonly inputs: readonly MeasuredInput[];
  /** Names of the outputs to learn about. */
  readonly outputs: readonly string[];
}

/** What the runs told of an output. */
export type MeasuredOutput = Required<Pick<DeclaredTensor, 'datatype' | 'shape'>>;

/** Dimensions of the inputs that are equal by their symbol; those without one share ''. */
type Symbols = ReadonlyMap<string, { readonly range: DimRange; readonly sizes: readonly [number, number] }>;

/**
 * Opens the model, runs it within the declared ranges and closes it.
 * @throws {PyTorchBackendError} when it does not load, or does not run on zeros
 */
export async function measureOutputs(
  measured: MeasuredModel,
  { inputs, outputs }: Measurement,
): Promise<ReadonlyMap<string, MeasuredOutput>> {
  const symbols = chooseSizes(inputs);
  await using model = await openForRuns(measured, { inputs, outputs });
  const first = await model.run(zeros(inputs, { symbols, run: 0 }));
  const second = await model.run(zeros(inputs, { symbols, run: 1 }));
  return new Map(outputs.map((name) => [name, compare([first[name], second[name]], symbols)]));
}

async function openForRuns(
  { parameters, instance, openNative = loadNative, ...measured }: MeasuredModel,
  { inputs, outputs }: Measurement,
): Promise<RunnableModel> {
  const { modelName, file } = measured;
  const entries = [...parameters].map(([key, { stringValue }]) => [key, stringValue] as const);
  const unknown = { dims: undefined, reshape: undefined };
  const model = await openModel({
    ...measured,
    native: await openNative(),
    parameters: readParameters({ modelName, engine: file.engine, entries, logger: silentLogger }),
    maxBatchSize: 0,
    inputs: inputs.map(({ name, datatype }) => ({ name, datatype, ...unknown })),
    outputs: outputs.map((name) => ({ name, datatype: undefined, ...unknown })),
    instances: [instance],
    logger: silentLogger,
  });
  try {
    return await RunnableModel.open({
      model,
      modelName,
      inputs: inputs.map((input) => ({ ...input, aliases: [] })),
      outputs,
      instances: [instance],
    });
  } catch (thrown) {
    await model.close();
    throw thrown;
  }
}

/** Two sizes for each symbol, with a difference of its own, so that a size of an output tells which symbol it follows. */
function chooseSizes(inputs: readonly MeasuredInput[]): Symbols {
  const ranges = new Map<string, DimRange>();
  for (const dim of inputs.flatMap(({ shape }) => shape)) {
    if (typeof dim === 'number') continue;
    const { symbol = '' } = dim;
    const known = ranges.get(symbol);
    ranges.set(symbol, known === undefined ? dim : intersection(known, dim));
  }
  return new Map([...ranges].map(([symbol, range], i) => [symbol, { range, sizes: twoSizes(range, i + 1) }]));
}

function intersection(a: DimRange, b: DimRange): DimRange {
  const bounds = [a.max, b.max].filter((max) => max !== null);
  return { ...a, min: Math.max(a.min, b.min), max: bounds.length === 0 ? null : Math.min(...bounds) };
}

function twoSizes({ min, max }: DimRange, step: number): readonly [number, number] {
  const least = Math.max(min, 1);
  const most = max ?? Number.POSITIVE_INFINITY;
  const larger = Math.min(Math.max(1 + 3 * step, least + step), most);
  return [Math.max(Math.min(larger - step, most), least), larger];
}

function zeros(
  inputs: readonly MeasuredInput[],
  { symbols, run }: { readonly symbols: Symbols; readonly run: 0 | 1 },
): Record<string, RunInput> {
  const size = (dim: DeclaredDim): number =>
    typeof dim === 'number' ? dim : (symbols.get(dim.symbol ?? '')?.sizes[run] ?? 1);
  return Object.fromEntries(
    inputs.map(({ name, datatype, shape }) => {
      const sizes = shape.map(size);
      return [name, { shape: sizes, data: zeroData(datatype, sizes) }];
    }),
  );
}

function zeroData(datatype: Datatype, shape: readonly number[]): NumericArray | readonly string[] {
  const count = shape.reduce((product, size) => product * size, 1);
  return datatype === 'BYTES' ? new Array<string>(count).fill('') : new DATATYPES[datatype].array(count);
}

function compare(runs: readonly [RunOutput | undefined, RunOutput | undefined], symbols: Symbols): MeasuredOutput {
  const [first, second] = runs;
  if (first === undefined || second === undefined)
    throw new RangeError('a run returned fewer outputs than it was asked for');
  const { datatype, shape } = first;
  // Of a result whose number of dimensions depends on the sizes nothing but that varies is known.
  if (shape.length !== second.shape.length) return { datatype, shape: [{ min: 0, max: null }] };
  return { datatype, shape: shape.map((size, i) => sizeOf([size, second.shape[i] ?? size], symbols)) };
}

function sizeOf([first, second]: readonly [number, number], symbols: Symbols): DeclaredDim {
  if (first === second) return first;
  for (const [symbol, { range, sizes }] of symbols) {
    if (sizes[0] === first && sizes[1] === second) return symbol === '' ? { min: range.min, max: range.max } : range;
  }
  return { min: 0, max: null };
}
