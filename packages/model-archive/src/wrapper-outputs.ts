/** Follows the buffers of a generated `run_impl` to its outputs, to learn their datatypes and shapes. */
import { evaluateSize, splitSizes } from './size-expression.ts';
import type { DimRange } from './types.ts';
import type { SourceTensor } from './wrapper-source.ts';

interface Known {
  /** What a name holds before the first statement: the inputs. */
  readonly inputs: readonly SourceTensor[];
  /** Ranges of the symbols in the inputs' shapes. */
  readonly ranges: ReadonlyMap<string, DimRange>;
}

/** The statements that make, name, view or return a buffer, in the order of the source. */
const STATEMENTS = new RegExp(
  [
    // Names of inputs appear in run_impl with `arg` and a buffer's with `buf`; views are kept in `var_<n>`.
    /int64_t \*?(?<array>int_array_\d+)(?:\[\] = \{(?<sizes>[^}]*)\}|=nullptr)/,
    /aoti_torch_empty_strided\w*\(\d+, (?<madeSizes>\w+), \w+, cached_torch_dtype_(?<madeDtype>\w+), [^;]*?&(?<made>\w+)_handle\)/,
    /assert_size_stride\((?<asserted>buf\d+), \{(?<assertedSizes>[^}]*)\}/,
    /auto (?<view>\w+) = wrap_with_raii_handle_if_needed\(reinterpret_tensor_wrapper\((?<viewed>\w+), \d+, (?<viewSizes>\w+), /,
    /auto (?<moved>\w+) = std::move\((?<from>\w+)\);/,
    /output_handles\[(?<viewOutput>\d+)\] = wrap_with_raii_handle_if_needed\(reinterpret_tensor_wrapper\((?<viewOrigin>\w+), \d+, (?<outputSizes>\w+), /,
    /output_handles\[(?<output>\d+)\] = (?<origin>\w+)\.release\(\)/,
    /output_handles\[(?<copy>\d+)\] = output_handles\[(?<original>\d+)\]/,
    /aoti_torch_clone\((?<cloned>\w+), &output_handles\[(?<clone>\d+)\]\)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** Datatype and shape of each of `count` outputs, as far as the source says. */
export function readOutputs(source: string, count: number, { inputs, ranges }: Known): SourceTensor[] {
  const start = source.indexOf('::run_impl(');
  const body = start === -1 ? source : source.slice(start);
  const arrays = new Map<string, readonly string[]>();
  const buffers = new Map<string, SourceTensor>(
    inputs.flatMap(({ compiledName, torchDtype, shape }) =>
      compiledName === undefined ? [] : [[compiledName, tensorOf(torchDtype, shape)]],
    ),
  );
  const outputs = new Map<number, SourceTensor>();
  const shapeOf = (sizes: readonly string[] | undefined) => sizes?.map((size) => evaluateSize(size, ranges));
  const viewOf = (buffer: string | undefined, sizes: string) =>
    tensorOf(buffers.get(buffer ?? '')?.torchDtype, shapeOf(arrays.get(sizes)));

  for (const { groups: g = {} } of body.matchAll(STATEMENTS)) {
    if (g.array !== undefined) arrays.set(g.array, splitSizes(g.sizes ?? ''));
    else if (g.made !== undefined) buffers.set(g.made, tensorOf(g.madeDtype, shapeOf(arrays.get(g.madeSizes ?? ''))));
    else if (g.asserted !== undefined) {
      // An operator of torch made it: its datatype is not in the source.
      if (!buffers.has(g.asserted)) {
        buffers.set(g.asserted, tensorOf(undefined, shapeOf(splitSizes(g.assertedSizes ?? ''))));
      }
    } else if (g.view !== undefined) buffers.set(g.view, viewOf(g.viewed, g.viewSizes ?? ''));
    else if (g.moved !== undefined) buffers.set(g.moved, buffers.get(g.from ?? '') ?? {});
    else if (g.viewOutput !== undefined) outputs.set(Number(g.viewOutput), viewOf(g.viewOrigin, g.outputSizes ?? ''));
    else if (g.output !== undefined) outputs.set(Number(g.output), buffers.get(g.origin ?? '') ?? {});
    else if (g.copy !== undefined) outputs.set(Number(g.copy), outputs.get(Number(g.original)) ?? {});
    else if (g.clone !== undefined) outputs.set(Number(g.clone), buffers.get(g.cloned ?? '') ?? {});
  }
  // A result that is None is not mentioned; where none is, the source has another form than is known.
  const isMentioned = (index: number) => body.includes(`output_handles[${index}]`);
  const unknown = (index: number): SourceTensor => (outputs.size > 0 && !isMentioned(index) ? { isNone: true } : {});
  return Array.from({ length: count }, (_, index) => outputs.get(index) ?? unknown(index));
}

function tensorOf(torchDtype: string | undefined, shape: SourceTensor['shape']): SourceTensor {
  return { ...(torchDtype === undefined ? {} : { torchDtype }), ...(shape === undefined ? {} : { shape }) };
}
