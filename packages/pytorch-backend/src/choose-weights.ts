/** Holds new weights against those of a loaded package. */
import { DATATYPES, type Datatype, formatShape, type WeightsReport } from '@nereid/core';
import type { Weight, WeightInfo } from '@nereid/native';
import { PyTorchBackendError } from './errors.ts';

/** A new value. */
export interface NewWeight {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: readonly number[];
  readonly data: Uint8Array;
}

export interface WeightChoice {
  /** What the addon takes. */
  readonly weights: readonly Weight[];
  readonly report: WeightsReport;
}

/** Counts batches of training; inference never reads it. */
const TRAINING_COUNTER = /(?:^|\.)num_batches_tracked$/;

/**
 * Every parameter must be given, in its shape and datatype. A buffer may be left out, as those that are not saved are, and keeps its value. What the
 * package does not have is refused: its value may be in the code, where no new one reaches it.
 *
 * @throws {PyTorchBackendError} INVALID_ARG `weights`, with everything that does not fit
 */
export function chooseWeights(
  modelName: string,
  { known, given }: { readonly known: readonly WeightInfo[]; readonly given: readonly NewWeight[] },
): WeightChoice {
  const byName = new Map(given.map((weight) => [weight.name, weight]));
  const names = new Set(known.map(({ name }) => name));
  const kept = known.filter(({ name }) => !byName.has(name));
  const updated = known.filter(({ name }) => byName.has(name));
  const others = [...byName.keys()].filter((name) => !names.has(name));
  const faults = [
    ...lacking(kept.filter(({ isParameter }) => isParameter)),
    ...beyond(others.filter((name) => !TRAINING_COUNTER.test(name))),
    ...updated.map((info) => differenceOf(info, byName.get(info.name))).filter((fault) => fault !== undefined),
  ];
  if (faults.length > 0) {
    const message = `model '${modelName}': the new weights do not fit: ${faults.join('; ')}`;
    throw new PyTorchBackendError({ code: 'INVALID_ARG', reason: 'weights', message });
  }
  const report = { updated: updated.map(({ name }) => name), kept: kept.map(({ name }) => name), ignored: others };
  return { weights: updated.flatMap(({ name }) => toNative(byName.get(name))), report };
}

function lacking(missing: readonly WeightInfo[]): readonly string[] {
  return missing.length === 0 ? [] : [`they lack ${missing.map(describeKnown).join(', ')}`];
}

function beyond(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const list = names.map((name) => `'${name}'`).join(', ');
  return [
    `they hold ${list}, which the package does not have: the model does not use it, or its value is in the code, where the compiler puts short tensors and ` +
      'those of equal elements unless inductor_configs has always_keep_tensor_constants: True and joint_graph_constant_folding: False',
  ];
}

function differenceOf(info: WeightInfo, given: NewWeight | undefined): string | undefined {
  if (given === undefined) return undefined;
  const { datatype, shape, data } = given;
  const { configNumber, byteSize } = DATATYPES[datatype];
  const fits = configNumber === info.datatype && shape.join() === info.shape.join();
  if (!fits) return `'${given.name}' is ${datatype} ${formatShape(shape)}, the package has ${describeKnown(info)}`;
  const expected = shape.reduce((bytes, size) => bytes * size, byteSize);
  if (data.byteLength === expected) return undefined;
  return `'${given.name}' ${datatype} ${formatShape(shape)} needs ${expected} bytes, got ${data.byteLength}`;
}

function describeKnown({ name, datatype, shape, isParameter }: WeightInfo): string {
  return `${isParameter ? 'parameter' : 'buffer'} '${name}' ${DATATYPE_NAMES.get(datatype) ?? 'of another datatype'} ${formatShape(shape)}`;
}

const DATATYPE_NAMES = new Map<number, string>(
  Object.entries(DATATYPES).map(([name, { configNumber }]) => [configNumber, name]),
);

function toNative(given: NewWeight | undefined): readonly Weight[] {
  if (given === undefined) return [];
  const { name, datatype, shape, data } = given;
  return [{ name, datatype: DATATYPES[datatype].configNumber, shape, data }];
}
