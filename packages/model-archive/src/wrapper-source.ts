/**
 * Reads the C++ source that AOTInductor generates and packs beside the library (`*.wrapper.cpp`). What is taken from it:
 *
 *     inputs_info_[0].name = "arg3_1";                            names of the inputs, in order
 *     constants_info_[0].…; in_spec_ = R"([1, …])";               constants, the two strings of the call spec
 *     static void check_input_0(…) { … }                          datatype, sizes with bounds, strides, device of an input
 *     assert_size_stride(arg3_1, {s17, 4L}, {4L, 1L}, "input")    symbols of its dynamic dimensions
 *     run_impl(…) { … }                                           datatypes and shapes of the outputs
 *
 * It is a hint written by a compiler, in a form that may change: what does not match is left unknown.
 * Source: `torch/_inductor/codegen/cpp_wrapper_cpu.py`.
 */
import { splitSizes, statedRange } from './size-expression.ts';
import type { DeclaredDim, DimRange } from './types.ts';
import { readOutputs } from './wrapper-outputs.ts';

/** Tensor facts from the source; absent fields were not found. */
export interface SourceTensor {
  readonly compiledName?: string;
  /** Torch's name, e.g. `float32`. */
  readonly torchDtype?: string;
  readonly shape?: readonly DeclaredDim[];
  /** Elements between neighbours of each dimension; null where that varies. */
  readonly strides?: readonly (number | null)[];
  readonly device?: string;
  readonly isNone?: true;
}

export interface WrapperFacts {
  readonly inputs: readonly SourceTensor[];
  readonly outputs: readonly SourceTensor[];
  readonly constantCount: number;
  /** Parameters and buffers among the constants: a lower bound of what torch.export lifted. */
  readonly parameterCount: number;
  readonly callSpec?: { readonly inputs: string; readonly outputs: string };
}

/** Facts from the source; undefined when it is not a wrapper. */
export function readWrapperSource(source: string): WrapperFacts | undefined {
  const names = indexed(source, /\binputs_info_\[(\d+)\]\.name = "([^"]*)"/g);
  const outputCount = indexed(source, /\boutputs_info_\[(\d+)\]\.name = "([^"]*)"/g).length;
  if (names.length === 0 && outputCount === 0) return undefined;

  const inputs = readInputs(source, names);
  return {
    inputs,
    outputs: readOutputs(source, outputCount, { inputs, ranges: rangesBySymbol(inputs) }),
    ...readConstants(source),
    ...readCallSpec(source),
  };
}

/** Values of `name[i] = value` statements, by index. */
function indexed(source: string, pattern: RegExp): string[] {
  const values: string[] = [];
  for (const match of source.matchAll(pattern)) {
    if (Number(match[1]) === values.length) values.push(match[2] ?? '');
  }
  return values;
}

function readConstants(source: string): Pick<WrapperFacts, 'constantCount' | 'parameterCount'> {
  const names = indexed(source, /\bconstants_info_\[(\d+)\]\.name = "([^"]*)"/g);
  const foldedStatements = source.matchAll(/\bconstants_info_\[(\d+)\]\.from_folded = true/g);
  const folded = new Set([...foldedStatements].map((match) => match[1]));
  const types = source.matchAll(/\bconstants_info_\[(\d+)\]\.type = [^;]*::(?:Parameter|Buffer)\)/g);
  const parameters = [...types].filter((match) => !folded.has(match[1]));
  return { constantCount: names.length, parameterCount: parameters.length };
}

function readCallSpec(source: string): Pick<WrapperFacts, 'callSpec'> {
  const inputs = /\bin_spec_ = R"\((.*)\)";/.exec(source)?.[1];
  const outputs = /\bout_spec_ = R"\((.*)\)";/.exec(source)?.[1];
  return inputs === undefined || outputs === undefined ? {} : { callSpec: { inputs, outputs } };
}

function readInputs(source: string, names: readonly string[]): SourceTensor[] {
  const functions = source.matchAll(/\bvoid check_input_(\d+)\([^)]*\)\s*\{([\s\S]*?)\n\}/g);
  const checks = new Map([...functions].map((match) => [Number(match[1]), match[2] ?? '']));
  const asserts = source.matchAll(/\bassert_size_stride\((\w+), \{([^}]*)\}, \{[^}]*\}, "input"\)/g);
  const sizes = new Map([...asserts].map((match) => [match[1] ?? '', splitSizes(match[2] ?? '')]));
  return names.map((compiledName, index) => {
    const check = checks.get(index);
    return { compiledName, ...(check === undefined ? {} : readCheck(check, sizes.get(compiledName) ?? [])) };
  });
}

function readCheck(check: string, sizes: readonly string[]): SourceTensor {
  const torchDtype = /_expected_dtype = aoti_torch_dtype_(\w+)\(\)/.exec(check)?.[1];
  const device = /_expected_device_type << "\d+\((\w+)\)/.exec(check)?.[1];
  return {
    ...(torchDtype === undefined ? {} : { torchDtype }),
    ...readLayout(check, sizes),
    ...(device === undefined ? {} : { device }),
  };
}

function readLayout(check: string, sizes: readonly string[]): Pick<SourceTensor, 'shape' | 'strides'> {
  const fixed = numbersByIndex(check, /if \((?<value>-?\d+) != \w+_size\[(?<index>\d+)\]\)/g);
  const least = numbersByIndex(check, /if \(\w+_size\[(?<index>\d+)\] < (?<value>-?\d+)\)/g);
  const most = numbersByIndex(check, /if \(\w+_size\[(?<index>\d+)\] > (?<value>\d+)\)/g);
  const strides = numbersByIndex(check, /if \((?<value>-?\d+) != \w+_stride\[(?<index>\d+)\]\)/g);
  const indices = [fixed, least, most, strides].flatMap((found) => [...found.keys()]);
  const length = Math.max(sizes.length, ...indices.map((index) => index + 1));
  return {
    shape: Array.from({ length }, (_, index) => fixed.get(index) ?? rangeAt(index, { least, most, sizes })),
    strides: Array.from({ length }, (_, index) => strides.get(index) ?? null),
  };
}

function numbersByIndex(text: string, pattern: RegExp): Map<number, number> {
  return new Map([...text.matchAll(pattern)].map(({ groups }) => [Number(groups?.index), Number(groups?.value)]));
}

interface Bounds {
  readonly least: ReadonlyMap<number, number>;
  readonly most: ReadonlyMap<number, number>;
  readonly sizes: readonly string[];
}

function rangeAt(index: number, { least, most, sizes }: Bounds): DimRange {
  const lower = least.get(index);
  const upper = most.get(index);
  const bounds = { ...(lower === undefined ? {} : { least: lower }), ...(upper === undefined ? {} : { most: upper }) };
  return statedRange(bounds, sizes[index]);
}

function rangesBySymbol(inputs: readonly SourceTensor[]): Map<string, DimRange> {
  const dims = inputs.flatMap(({ shape = [] }) => shape);
  return new Map(
    dims.flatMap((dim) => (typeof dim === 'number' || dim.symbol === undefined ? [] : [[dim.symbol, dim]])),
  );
}
