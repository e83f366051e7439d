/**
 * Names of the tensors of a call spec. Leaves are numbered depth first, which is the order of the compiled program's inputs and outputs:
 *
 *     walk(leaf, prefix)        → prefix
 *     walk(tuple|list, prefix)  → walk(child i, prefix[i])
 *     walk(dict, prefix)        → walk(child of key k, prefix[k]), the key written without quotes
 *
 * with the prefixes ARGS, KWARGS and RESULT.
 */
import { type CompiledInputs, keepCompiled } from './burnt-in.ts';
import { CallSpecError } from './errors.ts';
import { type CallSpecLimits, DEFAULT_LIMITS } from './limits.ts';
import type { CallSpec, SpecNode } from './tree.ts';

/** One tensor of a program's inputs or outputs. */
export interface NamedTensor {
  /** Index among the inputs or outputs of the compiled program. */
  readonly position: number;
  /** `INPUT__<position>` or `OUTPUT__<position>`. */
  readonly ordinalName: string;
  /** Where it stands in the call, e.g. `ARGS[2][keyA]`, `KWARGS[k]`, `RESULT[0]`. Shown even when it cannot be used. */
  readonly forwardName: string;
  /** False when a key on the way has a character that makes the forward name ambiguous; then only the ordinal name is accepted. */
  readonly forwardNameUsable: boolean;
}

/** Names of one side. */
export interface NamedTensors {
  /** In call order: the entry at index i has position i. */
  readonly tensors: readonly NamedTensor[];
  /** What the owner of the model should know: unusable forward names, arguments that were burnt in. */
  readonly warnings: readonly string[];
}

/** Names of both sides. */
export interface TensorNames {
  readonly inputs: readonly NamedTensor[];
  readonly outputs: readonly NamedTensor[];
  /** Warnings of both sides, inputs first. */
  readonly warnings: readonly string[];
}

export interface NameOptions extends Pick<CallSpecLimits, 'maxNameLength'> {
  /** What the compiled library says of its inputs. Without it every leaf is taken for a tensor. */
  readonly compiledInputs?: CompiledInputs;
}

/** A leaf before it has a position. */
export interface Leaf {
  readonly forwardName: string;
  readonly usable: boolean;
}

/**
 * Names every tensor of a call spec, inputs and outputs, in call order.
 *
 * @returns names that are unique on each side: every ordinal name, and every usable forward name
 * @throws {CallSpecError} what `nameInputs` and `nameOutputs` throw
 * Source: triton pytorch_backend README, "Forward Based I/O Names".
 */
export function nameTensors(spec: CallSpec, options: NameOptions = {}): TensorNames {
  const inputs = nameInputs(spec, options);
  const outputs = nameOutputs(spec, options);
  return { inputs: inputs.tensors, outputs: outputs.tensors, warnings: [...inputs.warnings, ...outputs.warnings] };
}

/**
 * Names the input tensors: positional arguments, then keyword arguments.
 * @throws {CallSpecError} `burnt-in` or `compiled-inputs` when the compiled inputs do not fit the leaves (non-tensor arguments were
 *   exported and cannot be told from tensors), `limit` when a forward name is longer than `maxNameLength`
 */
export function nameInputs(spec: CallSpec, options: NameOptions = {}): NamedTensors {
  const { maxNameLength = DEFAULT_LIMITS.maxNameLength, compiledInputs } = options;
  const leaves = [...leavesOf(spec.args, 'ARGS', maxNameLength), ...leavesOf(spec.kwargs, 'KWARGS', maxNameLength)];
  const { kept, warnings } = keepCompiled(leaves, compiledInputs);
  const tensors = kept.map((leaf, position) => named(leaf, position, 'INPUT'));
  return { tensors, warnings: [...warnings, ...unusableNames(tensors)] };
}

/**
 * Names the output tensors. Every leaf counts, also one that was None or a number at export.
 * @throws {CallSpecError} `limit` when a forward name is longer than `maxNameLength`
 */
export function nameOutputs(spec: CallSpec, options: Pick<NameOptions, 'maxNameLength'> = {}): NamedTensors {
  const { maxNameLength = DEFAULT_LIMITS.maxNameLength } = options;
  const leaves = leavesOf(spec.result, 'RESULT', maxNameLength);
  const tensors = leaves.map((leaf, position) => named(leaf, position, 'OUTPUT'));
  return { tensors, warnings: unusableNames(tensors) };
}

function named({ forwardName, usable }: Leaf, position: number, side: 'INPUT' | 'OUTPUT'): NamedTensor {
  return { position, ordinalName: `${side}__${position}`, forwardName, forwardNameUsable: usable };
}

function leavesOf(root: SpecNode, rootName: string, maxNameLength: number): Leaf[] {
  const leaves: Leaf[] = [];
  const walk = (node: SpecNode, name: string, usable: boolean): void => {
    if (name.length > maxNameLength) throw nameTooLong(name, maxNameLength);
    switch (node.kind) {
      case 'leaf':
        leaves.push({ forwardName: name, usable });
        return;
      case 'tuple':
      case 'list':
        for (const [index, child] of node.children.entries()) walk(child, `${name}[${index}]`, usable);
        return;
      case 'dict':
        for (const [index, child] of node.children.entries()) {
          const key = node.keys[index] ?? '';
          walk(child, `${name}[${key}]`, usable && !FORBIDDEN_IN_KEY.test(key));
        }
        return;
      default:
        node satisfies never;
    }
  };
  walk(root, rootName, true);
  return leaves;
}

/** Quotes, brackets, white space and non-printable characters: with them a forward name could be read in two ways. */
const FORBIDDEN_IN_KEY = /["[\]\s\p{C}\p{Z}]/u;

function unusableNames(tensors: readonly NamedTensor[]): string[] {
  return tensors
    .filter(({ forwardNameUsable }) => !forwardNameUsable)
    .map(
      ({ ordinalName, forwardName }) =>
        `${JSON.stringify(forwardName)} cannot be used as a name: a key in it has a quote, bracket, white space or non-printable ` +
        `character. Use '${ordinalName}', or rename the key and export again.`,
    );
}

function nameTooLong(name: string, maxNameLength: number): CallSpecError {
  const message = `${name.slice(0, 60)}…: a forward name of more than ${maxNameLength} characters (option maxNameLength).`;
  return new CallSpecError({ reason: 'limit', message });
}
