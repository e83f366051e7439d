import type { SharedMemoryPart } from '@nereid/core';
import { ProtocolError } from './errors.ts';
import type { JsonObject, JsonValue } from './json-reader.ts';
import type { ProtocolLimits } from './limits.ts';
import { booleanParameter, stringMember, unsignedParameter } from './members.ts';
import { type OutputForm, ResponseFormat } from './response-format.ts';
import { asEntries, entryParameters, sharedMemoryPart } from './tensor-entries.ts';

export interface OutputSelection {
  /** Outputs the client listed; empty for every output of the model. */
  readonly names: readonly string[];
  readonly format: ResponseFormat;
  /** Where the outputs go that belong into shared memory. */
  readonly parts: ReadonlyMap<string, SharedMemoryPart>;
}

/**
 * Reads `outputs`. A listed output is JSON unless it asks for binary data itself, whatever the request's default is.
 * @throws {ProtocolError} `duplicate`, `bad-member`, `bad-parameter`; `unsupported` for classification
 */
export function readOutputSelection(
  outputs: JsonValue | undefined,
  binaryByDefault: boolean,
  limits: ProtocolLimits,
): OutputSelection {
  const listed = new Map<string, OutputForm>();
  const parts = new Map<string, SharedMemoryPart>();
  if (outputs !== undefined) {
    asEntries(outputs, 'outputs', limits).forEach((entry, index) => {
      const name = stringMember(entry, 'name', `output ${index}`);
      if (listed.has(name)) throw new ProtocolError('duplicate', `output '${name}' already exists in request`);
      const owner = `output '${name}'`;
      const parameters = entryParameters(entry, owner);
      const isBinary = readBinaryFlag(parameters, owner);
      const part = sharedMemoryPart(parameters, owner);
      if (part !== undefined) parts.set(name, part);
      listed.set(name, part === undefined ? (isBinary ? 'binary' : 'json') : 'memory');
    });
  }
  return { names: [...listed.keys()], format: new ResponseFormat({ listed, binaryByDefault }), parts };
}

function readBinaryFlag(parameters: JsonObject, owner: string): boolean {
  const classes = parameters.get('classification');
  const isClassified = classes !== undefined && unsignedParameter(classes, { key: 'classification', owner }) > 0;
  const flag = parameters.get('binary_data');
  const isBinary = flag !== undefined && booleanParameter(flag, { key: 'binary_data', owner });
  if (parameters.has('shared_memory_region') && (isClassified || isBinary)) {
    throw new ProtocolError(
      'bad-parameter',
      `${owner} cannot combine 'shared_memory_region' with 'classification' or 'binary_data'`,
    );
  }
  if (isClassified) throw new ProtocolError('unsupported', `classification of ${owner} is not supported`);
  return isBinary;
}
