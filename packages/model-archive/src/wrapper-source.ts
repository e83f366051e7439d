/**
 * Reads the C++ source that AOTInductor generates and packs beside the library (`*.wrapper.cpp`). What is taken from it:
 *
 *     inputs_info_[0].name = "arg3_1";                            names of the inputs, in order
 *     constants_info_[0].…; in_spec_ = R"([1, …])";               constants, the two strings of the call spec
 *     static void check_input_0(…) { … }                          datatype, sizes with bounds, strides, device of an input
 *     assert_size_stride(arg3_1, {s17, 4L}, {4L, 1L}, "input")    symbols of its dynamic dimensions
 *     int_array_2[] = {s17, 3L}; aoti_torch_empty_strided(…, &buf1_handle); auto buf2 = std::move(buf1);
 *     output_handles[0] = buf2.release();                         datatype and shape of an output, through its buffer
 *
 * It is a hint written by a compiler, in a form that may change: what does not match is left unknown.
 * Source: `torch/_inductor/codegen/cpp_wrapper_cpu.py`.
 */
import type { DeclaredDim, DimRange } from './types.ts';

/** Tensor facts from the source; absent fields were not found. */
export interface SourceTensor {
  readonly compiledName?: string;
  /** Torch's name, e.g. `float32`. */
  readonly torchDtype?: string;
  readonly shape?: readonly DeclaredDim[];
  readonly device?: string;
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

  const symbols = inputSymbols(source);
  const checks = new Map(
    [...source.matchAll(/\bvoid check_input_(\d+)\([^)]*\)\s*\{([\s\S]*?)\n\}/g)].map((match) => [
      Number(match[1]),
      match[2] ?? '',
    ]),
  );
  const inputs = names.map((compiledName, index) => {
    const check = checks.get(index);
    return { compiledName, ...(check === undefined ? {} : readCheck(check, symbols.get(compiledName))) };
  });
  return {
    inputs,
    outputs: readOutputs(source, outputCount, rangesBySymbol(inputs)),
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
  const folded = new Set(
    [...source.matchAll(/\bconstants_info_\[(\d+)\]\.from_folded = true/g)].map((match) => match[1]),
  );
  const types = source.matchAll(/\bconstants_info_\[(\d+)\]\.type = [^;]*::(Parameter|Buffer)\)/g);
  const parameters = [...types].filter((match) => !folded.has(match[1]));
  return { constantCount: names.length, parameterCount: parameters.length };
}

function readCallSpec(source: string): Pick<WrapperFacts, 'callSpec'> {
  const inputs = /\bin_spec_ = R"\((.*)\)";/.exec(source)?.[1];
  const outputs = /\bout_spec_ = R"\((.*)\)";/.exec(source)?.[1];
  return inputs === undefined || outputs === undefined ? {} : { callSpec: { inputs, outputs } };
}

/** The declared shape of each input, as expressions: `arg3_1` → `['s17', '4L']`. */
function inputSymbols(source: string): Map<string, string[]> {
  const matches = source.matchAll(/\bassert_size_stride\((\w+), \{([^}]*)\}, \{[^}]*\}, "input"\)/g);
  return new Map([...matches].map((match) => [match[1] ?? '', expressions(match[2] ?? '')]));
}

function expressions(list: string): string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function readCheck(check: string, sizes: readonly string[] | undefined): SourceTensor {
  const torchDtype = /_expected_dtype = aoti_torch_dtype_(\w+)\(\)/.exec(check)?.[1];
  const device = /_expected_device_type << "\d+\((\w+)\)/.exec(check)?.[1];
  return {
    ...(torchDtype === undefined ? {} : { torchDtype }),
    shape: readSizes(check, sizes),
    ...(device === undefined ? {} : { device }),
  };
}

function readSizes(check: string, sizes: readonly string[] = []): DeclaredDim[] {
  const fixed = numbersByIndex(check, /if \((-?\d+) != \w+_size\[(\d+)\]\)/g, { value: 1, index: 2 });
  const least = numbersByIndex(check, /if \(\w+_size\[(\d+)\] < (-?\d+)\)/g, { value: 2, index: 1 });
  const most = numbersByIndex(check, /if \(\w+_size\[(\d+)\] > (\d+)\)/g, { value: 2, index: 1 });
  const strides = numbersByIndex(check, /if \(-?\d+ != \w+_stride\[(\d+)\]\)/g, { value: 1, index: 1 });
  const indices = [fixed, least, most, strides].flatMap((found) => [...found.keys()]);
  const rank = Math.max(sizes.length, ...indices.map((index) => index + 1));
  return Array.from({ length: rank }, (_, index) => {
    const size = fixed.get(index);
    return size ?? range(least.get(index), most.get(index), sizes[index]);
  });
}

function numbersByIndex(
  text: string,
  pattern: RegExp,
  group: { readonly value: number; readonly index: number },
): Map<number, number> {
  return new Map([...text.matchAll(pattern)].map((match) => [Number(match[group.index]), Number(match[group.value])]));
}

/**
 * The range of a dynamic dimension. A lower bound of 2 is what the exporter writes for every dynamic dimension, as it treats 0 and 1 as
 * special; the compiled code works with 1. For a multiple of a symbol the bound is that multiple of 2.
 */
function range(least = 0, most: number | undefined, expression: string | undefined): DimRange {
  const factor = Number(/^(\d+)L\*\(?s\d+\)?$/.exec(expression ?? '')?.[1] ?? 1);
  const min = least === 2 * factor ? factor : least;
  // Without an upper bound torch writes the largest 64-bit number or one near it.
  const max = most === undefined || most > Number.MAX_SAFE_INTEGER ? null : most;
  return { min, max, ...(isSymbol(expression) ? { symbol: expression } : {}) };
}

function isSymbol(expression: string | undefined): expression is string {
  return expression !== undefined && /^[su]\d+$/.test(expression);
}

function rangesBySymbol(inputs: readonly SourceTensor[]): Map<string, DimRange> {
  const dims = inputs.flatMap(({ shape = [] }) => shape);
  const ranges = dims.filter((dim) => typeof dim !== 'number');
  return new Map(ranges.flatMap((dim) => (dim.symbol === undefined ? [] : [[dim.symbol, dim]])));
}

/** Datatype and shape of each buffer, followed through moves to the outputs. */
function readOutputs(source: string, count: number, ranges: ReadonlyMap<string, DimRange>): SourceTensor[] {
  const arrays = new Map(
    [...source.matchAll(/\bint64_t (int_array_\d+)\[\] = \{([^}]*)\}/g)].map((match) => [
      match[1] ?? '',
      expressions(match[2] ?? ''),
    ]),
  );
  const outputs: SourceTensor[] = Array.from({ length: count }, () => ({}));
  const buffers = new Map<string, SourceTensor>();
  const shapeOf = (name: string) => arrays.get(name)?.map((expression) => dimension(expression, ranges));
  for (const match of source.matchAll(BUFFER_STATEMENT)) {
    const { sizes, dtype, made, to, from, output, source: origin } = match.groups ?? {};
    if (made !== undefined && sizes !== undefined && dtype !== undefined) {
      const shape = shapeOf(sizes);
      buffers.set(made, { torchDtype: dtype, ...(shape === undefined ? {} : { shape }) });
    } else if (to !== undefined && from !== undefined) {
      buffers.set(to, buffers.get(from) ?? {});
    } else if (output !== undefined && origin !== undefined && Number(output) < count) {
      outputs[Number(output)] = buffers.get(origin) ?? {};
    }
  }
  return outputs;
}

const BUFFER_STATEMENT = new RegExp(
  [
    /aoti_torch_empty_strided\w*\(\d+, (?<sizes>\w+), \w+, cached_torch_dtype_(?<dtype>\w+), [^;]*?&(?<made>\w+)_handle\)/,
    /auto (?<to>\w+) = std::move\((?<from>\w+)\);/,
    /output_handles\[(?<output>\d+)\] = (?<source>\w+)\.release\(\)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** A size of a buffer: a number, a symbol with the range that the inputs give it, or an expression of unknown range. */
function dimension(expression: string, ranges: ReadonlyMap<string, DimRange>): DeclaredDim {
  const fixed = /^(\d+)L$/.exec(expression)?.[1];
  if (fixed !== undefined) return Number(fixed);
  if (!isSymbol(expression)) return { min: 0, max: null };
  return ranges.get(expression) ?? { min: 0, max: null, symbol: expression };
}
