/**
 * Which argument of `forward` each tensor of a configuration stands for. The names of its inputs choose a convention (`torchscript-names.ts`); controls
 * and states always carry their position as `<name>__<index>`, and targets of batch inputs follow the inputs. Source: Triton's PyTorch backend.
 */
import { datatypeToConfig } from '@nereid/core';
import type { ForwardSchema } from '@nereid/native';
import { PyTorchBackendError } from './errors.ts';
import { type InputSpec, roleOf } from './tensor-spec.ts';
import { indexInName, type NamingConvention, resolveInputNames } from './torchscript-names.ts';

export interface PlacingRequest {
  readonly modelName: string;
  readonly schema: ForwardSchema;
  readonly inputs: readonly InputSpec[];
}

export interface PlacedInputs {
  readonly convention: NamingConvention;
  /** Of each input, in their order; undefined for a target that is no argument. Not checked against anything. */
  readonly positions: readonly (number | undefined)[];
}

/**
 * @throws {PyTorchBackendError} `signature`: a control or state without its index, an input without its own beside states
 */
export function placeInputs(request: PlacingRequest): PlacedInputs {
  const { schema, inputs } = request;
  const own = inputs.filter((input) => roleOf(input) === 'input');
  const argumentNames = schema.arguments.map(({ name }) => name);
  const { convention, positions } = resolveInputNames(
    own.map(({ name }) => name),
    argumentNames,
  );
  if (inputs.some((input) => roleOf(input) === 'state')) {
    const indexed = inputs.filter((input) => roleOf(input) !== 'control' && roleOf(input) !== 'batch input');
    checkIndexed(
      request.modelName,
      indexed.map((input) => ({ role: roleOf(input), name: input.name })),
    );
  }
  let targets = 0;
  const place = (input: InputSpec): number | undefined => {
    switch (roleOf(input)) {
      case 'input':
        return positions[own.indexOf(input)];
      case 'batch input':
        if (convention === 'argument') return indexOf(argumentNames, input.name);
        return convention === 'index' ? indexInName(input.name) : own.length + targets++;
      case 'control':
        return controlIndex(request, input);
      case 'state':
        return indexInName(input.name);
    }
  };
  return { convention, positions: inputs.map(place) };
}

function indexOf(names: readonly string[], name: string): number | undefined {
  const index = names.indexOf(name);
  return index < 0 ? undefined : index;
}

/** Datatypes of controls that are refused, as modules that were written for the original never have them. */
const REFUSED_CONTROLS: ReadonlySet<string> = new Set(['UINT16', 'UINT32', 'UINT64', 'BF16']);

/** @throws {PyTorchBackendError} `signature`: a correlation ID of a datatype that is not supported */
export function checkControlDatatypes({ modelName, inputs }: Omit<PlacingRequest, 'schema'>): void {
  const odd = inputs.find((input) => roleOf(input) === 'control' && REFUSED_CONTROLS.has(input.datatype));
  if (odd === undefined) return;
  const message =
    `input '${odd.name}' type '${datatypeToConfig(odd.datatype)}' is not supported by PyTorch. ` +
    `Use TYPE_INT64 or TYPE_INT32 for this control of model '${modelName}'.`;
  throw new PyTorchBackendError({ code: 'INTERNAL', reason: 'signature', message });
}

function controlIndex({ modelName }: PlacingRequest, { name }: InputSpec): number {
  const index = indexInName(name);
  if (index !== undefined) return index;
  const message = `PyTorch model '${modelName}': control input '${name}' does not follow <name>__<index> naming convention, e.g. ${name}__2 for the third argument of forward`;
  throw new PyTorchBackendError({ code: 'INTERNAL', reason: 'signature', message });
}

/** A tensor as messages name it. */
interface Indexed {
  readonly role: string;
  readonly name: string;
}

/**
 * With states every position must be told by name: nothing else says which result is the next value.
 * @throws {PyTorchBackendError} `signature`
 */
export function checkIndexed(modelName: string, tensors: readonly Indexed[]): void {
  const odd = tensors.filter(({ name }) => indexInName(name) === undefined);
  if (odd.length === 0) return;
  const message =
    `PyTorch model '${modelName}' keeps implicit state, so that every input and output must follow the <name>__<index> naming ` +
    `convention; these do not: ${odd.map(({ role, name }) => `${role} '${name}'`).join(', ')}`;
  throw new PyTorchBackendError({ code: 'INVALID_ARG', reason: 'signature', message });
}
