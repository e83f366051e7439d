/**
 * Tells tensors from burnt-in values among the leaves of the inputs.
 *
 * A number, None or other non-tensor argument given to torch.export becomes a leaf of the call spec, but the compiled library has no input
 * for it. The library calls its inputs `arg<N>_1`, where N counts the lifted parameters, buffers and constants first and then every leaf.
 * So input N is leaf N − lifted. How many were lifted is not stated: constants that are unused or that the compiler inlined are counted in
 * N and yet missing from the library. It is bounded from both sides: the first input is leaf 0 or later, the last one the last leaf or
 * earlier, and at least the parameters and buffers that the library does hold were lifted. One possible value: the assignment is certain.
 */
import { CallSpecError } from './errors.ts';
import type { Leaf } from './names.ts';

/** What a compiled library says of its inputs. */
export interface CompiledInputs {
  /** Its input names in order, e.g. `["arg2_1", "arg4_1"]`; see `AOTInductorModelContainerGetInputName`. */
  readonly names: readonly string[];
  /**
   * Parameters and buffers that the library holds, not counting constants folded by the compiler. A lower bound of how many were lifted;
   * default 0. Never pass more than that: a count that is too high may assign inputs to the wrong leaves.
   */
  readonly constants?: number;
}

export interface KeptLeaves {
  readonly kept: readonly Leaf[];
  readonly warnings: readonly string[];
}

/** Leaves that are inputs of the compiled library, in order; those that are not are named in a warning. */
export function keepCompiled(leaves: readonly Leaf[], compiled: CompiledInputs | undefined): KeptLeaves {
  if (compiled === undefined || compiled.names.length === leaves.length) return { kept: leaves, warnings: [] };
  const numbers = inputNumbers(leaves, compiled.names);
  const lifted = liftedCount(leaves, numbers, compiled);
  const kept = new Set(numbers.map((number) => number - lifted));
  return {
    kept: leaves.filter((_, index) => kept.has(index)),
    warnings: leaves
      .filter((_, index) => !kept.has(index))
      .map(
        ({ forwardName }) =>
          `${forwardName} was not a tensor when the model was exported: its value is part of the compiled model and it is no input.`,
      ),
  };
}

function inputNumbers(leaves: readonly Leaf[], names: readonly string[]): number[] {
  if (names.length > leaves.length) {
    throw mismatch(leaves, names, `it has only ${leaves.length} leaves`);
  }
  const numbers = names.map((name) => Number(/^arg(\d+)_1$/.exec(name)?.[1] ?? Number.NaN));
  const odd = names.find((_, index) => Number.isNaN(numbers[index]));
  if (odd !== undefined) throw mismatch(leaves, names, `the input name '${odd}' does not say which leaf it is`);
  if (numbers.some((number, index) => index > 0 && number <= (numbers[index - 1] ?? 0))) {
    throw mismatch(leaves, names, 'the input names are not in order');
  }
  return numbers;
}

function liftedCount(leaves: readonly Leaf[], numbers: readonly number[], compiled: CompiledInputs): number {
  const { names, constants = 0 } = compiled;
  const [first] = numbers;
  const last = numbers.at(-1);
  if (first === undefined || last === undefined) return 0;
  const least = Math.max(last - leaves.length + 1, constants, 0);
  if (first === least) return first;
  if (constants > first) {
    throw mismatch(leaves, names, `it holds ${constants} parameters and buffers, which are numbered before the inputs`);
  }
  if (least > first) throw mismatch(leaves, names, 'the input names are further apart than the leaves');
  throw ambiguous(leaves, leaves.length - names.length);
}

function ambiguous(leaves: readonly Leaf[], count: number): CallSpecError {
  const [argument, they] = count === 1 ? ['argument', 'it is'] : ['arguments', 'they are'];
  const message =
    `The model was exported with ${count} non-tensor ${argument} (a number, None …) and it cannot be told which of ` +
    `${namesOf(leaves)} ${they}. Wrap the module in one whose forward takes tensors only and passes those values itself, and export the wrapper.`;
  return new CallSpecError({ reason: 'burnt-in', message });
}

function namesOf(leaves: readonly Leaf[]): string {
  return leaves.map(({ forwardName }) => forwardName).join(', ');
}

function mismatch(leaves: readonly Leaf[], names: readonly string[], why: string): CallSpecError {
  const message =
    `The compiled model takes ${names.length} tensors (${names.join(', ')}), which do not fit its call spec: ${why} ` +
    `(${namesOf(leaves)}). Export the model with tensor arguments only.`;
  return new CallSpecError({ reason: 'compiled-inputs', message });
}
