import type { SharedMemoryPart } from '@nereid/core';
import { ProtocolError } from './errors.ts';
import type { JsonObject, JsonValue } from './json-reader.ts';
import type { ProtocolLimits } from './limits.ts';
import { booleanParameter, stringMember, unsignedParameter } from './members.ts';
import type { OutputForm, OutputForms } from './response-format.ts';
import { asEntries, entryParameters, sharedMemoryPart } from './tensor-entries.ts';

export interface OutputSelection {
  /** Outputs the client listed; empty for every output of the model. */
  readonly names: readonly string[];
  readonly forms: OutputForms;
  /** Where the outputs go that belong into shared memory. */
  readonly parts: ReadonlyMap<string, SharedMemoryPart>;
  /** How many classes are sent of an output in place of it; undefined when none is classified. */
  readonly classes: ReadonlyMap<string, number> | undefined;
}

/**
 * Reads `outputs`. A listed output is JSON unless it asks for binary data itself, whatever the request's default is.
 * @throws {ProtocolError} `duplicate`, `bad-member`, `bad-parameter`
 */
export function readOutputSelection(
  outputs: JsonValue | undefined,
  binaryByDefault: boolean,
  limits: ProtocolLimits,
): OutputSelection {
  const listed = new Map<string, OutputForm>();
  const parts = new Map<string, SharedMemoryPart>();
  const classes = new Map<string, number>();
  if (outputs !== undefined) {
    asEntries(outputs, 'outputs', limits).forEach((entry, index) => {
      const name = stringMember(entry, 'name', `output ${index}`);
      if (listed.has(name)) throw new ProtocolError('duplicate', `output '${name}' already exists in request`);
      const owner = `output '${name}'`;
      const parameters = entryParameters(entry, owner);
      const { isBinary, classCount } = readForm(parameters, owner);
      const part = sharedMemoryPart(parameters, owner);
      if (part !== undefined) parts.set(name, part);
      if (classCount > 0) classes.set(name, classCount);
      listed.set(name, part === undefined ? (isBinary ? 'binary' : 'json') : 'memory');
    });
  }
  return {
    names: [...listed.keys()],
    forms: { listed, binaryByDefault },
    parts,
    classes: classes.size === 0 ? undefined : classes,
  };
}

function readForm(
  parameters: JsonObject,
  owner: string,
): { readonly isBinary: boolean /** 0 for the output itself. */; readonly classCount: number } {
  const classes = parameters.get('classification');
  // Beyond the safe range a double is exact enough: no output has so many.
  const classCount = classes === undefined ? 0 : Number(unsignedParameter(classes, { key: 'classification', owner }));
  const flag = parameters.get('binary_data');
  const isBinary = flag !== undefined && booleanParameter(flag, { key: 'binary_data', owner });
  if (parameters.has('shared_memory_region') && (classCount > 0 || isBinary)) {
    throw new ProtocolError(
      'bad-parameter',
      `${owner} cannot combine 'shared_memory_region' with 'classification' or 'binary_data'`,
    );
  }
  return { isBinary, classCount };
}
