/**
 * The JSON header of an inference request, checked and turned into a plan: where each input's bytes come from and how the outputs are to be sent. A plan
 * without JSON tensors does not depend on the request's id or binary part, so it serves every request whose header has the same bytes.
 */
import {
  type Datatype,
  isDatatype,
  RequestSignature,
  type Shape,
  type SharedMemoryPart,
  type SharedMemoryTensors,
} from '@nereid/core';
import { ProtocolError } from './errors.ts';
import { type JsonObject, JsonReader, JsonSpan, type JsonValue } from './json-reader.ts';
import { decodeJsonTensor } from './json-tensor.ts';
import { assertWithin, type ProtocolLimits } from './limits.ts';
import { shapeMember, stringMember, unparsable } from './members.ts';
import { readOutputSelection } from './output-selection.ts';
import { type RequestParameters, readRequestParameters } from './request-parameters.ts';
import { type OutputForms, ResponseFormat } from './response-format.ts';
import { asEntries, binaryDataSize, entryParameters, readRoot, sharedMemoryPart } from './tensor-entries.ts';

/** Model a request is addressed to. The same object for the same model and version: signatures are shared by its identity. */
export interface ModelTarget {
  readonly modelName: string;
  /** Decimal version, or '' for the latest. */
  readonly modelVersion: string;
}

interface TemplateInput {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: Shape;
  /** Bytes to take from the binary part; 0 when they are elsewhere. */
  readonly byteSize: number;
  /** Contents that came in the header. */
  readonly data: Uint8Array | undefined;
  /** Where in shared memory its contents lie. */
  readonly part: SharedMemoryPart | undefined;
}

/** A header as plain data, which can cross to another thread. */
export interface RequestPlan {
  /** As the header gave it; '' for none. */
  readonly id: string;
  readonly inputs: readonly TemplateInput[];
  readonly requestedOutputs: readonly string[];
  readonly parameters: RequestParameters;
  readonly forms: OutputForms;
  /** Undefined when no output is classified. */
  readonly classes: ReadonlyMap<string, number> | undefined;
  /** Undefined when no tensor lies in shared memory. */
  readonly sharedMemory: SharedMemoryTensors | undefined;
  /** Bytes that must follow the header. */
  readonly binaryBytes: number;
  /** Whether header bytes alone determine everything here but the id. */
  readonly isReusable: boolean;
}

export interface RequestTemplate extends RequestPlan {
  readonly format: ResponseFormat;
  /** One signature per target, for reusable templates without BYTES. */
  readonly signatures: SignatureTable | undefined;
}

const ROOT_MEMBERS: ReadonlySet<string> = new Set(['id', 'parameters', 'inputs', 'outputs']);

/** `data` stands inside the root object, the array `inputs` and an entry. */
const LEVELS_ABOVE_DATA = 3;

/**
 * Reads a JSON header.
 *
 * @param header  exactly the bytes of the header; JSON tensors are copied out of it
 * @throws {ProtocolError} for the first thing that is wrong, in the order: size, JSON, id, parameters, inputs, outputs
 */
export function readPlan(header: Uint8Array, limits: ProtocolLimits): RequestPlan {
  assertWithin({ what: 'the JSON header', bytes: header.length, limit: limits.maxHeaderBytes, limits });
  const reader = new JsonReader(header, {
    maxDepth: limits.maxJsonDepth + LEVELS_ABOVE_DATA,
    maxValues: limits.maxJsonValues,
  });
  const root = readRoot(reader, ROOT_MEMBERS);
  const id = readId(root.get('id'));
  const parameters = readRequestParameters(root.get('parameters'));
  const inputs = readInputs(root.get('inputs'), header, limits);
  const selection = readOutputSelection(root.get('outputs'), parameters.binaryDataOutput, limits);
  return {
    id,
    inputs,
    requestedOutputs: selection.names,
    parameters,
    forms: selection.forms,
    classes: selection.classes,
    sharedMemory: sharedMemoryOf(inputs, selection.parts),
    binaryBytes: inputs.reduce((bytes, input) => bytes + input.byteSize, 0),
    isReusable: inputs.every((input) => input.data === undefined),
  };
}

/** A plan with what stays on this thread: how its answers are encoded, and what its requests have in common. */
export function templateOf(plan: RequestPlan): RequestTemplate {
  const hasBytes = plan.inputs.some((input) => input.datatype === 'BYTES');
  const signatures = plan.isReusable && !hasBytes ? new SignatureTable() : undefined;
  return { ...plan, format: new ResponseFormat(plan.forms), signatures };
}

function sharedMemoryOf(
  inputs: readonly TemplateInput[],
  outputs: ReadonlyMap<string, SharedMemoryPart>,
): SharedMemoryTensors | undefined {
  const parts = new Map<string, SharedMemoryPart>();
  for (const { name, part } of inputs) if (part !== undefined) parts.set(name, part);
  return parts.size + outputs.size === 0 ? undefined : { inputs: parts, outputs };
}

function readId(id: JsonValue | undefined): string {
  if (id === undefined) return '';
  if (typeof id !== 'string') throw unparsable('id', 'the request', 'a string', id);
  return id;
}

function readInputs(value: JsonValue | undefined, header: Uint8Array, limits: ProtocolLimits): TemplateInput[] {
  const names = new Set<string>();
  return asEntries(value, 'inputs', limits).map((entry, index) => {
    const name = stringMember(entry, 'name', `input ${index}`);
    if (names.has(name)) throw new ProtocolError('duplicate', `input '${name}' already exists in request`);
    names.add(name);
    return readInput({ entry, name, header, limits });
  });
}

function readInput(job: {
  entry: JsonObject;
  name: string;
  header: Uint8Array;
  limits: ProtocolLimits;
}): TemplateInput {
  const { entry, name, header, limits } = job;
  const owner = `input '${name}'`;
  const shape = shapeMember(entry, owner);
  const datatype = datatypeMember(entry, owner);
  const parameters = entryParameters(entry, owner);
  const span = entry.get('data');
  const byteSize = binaryDataSize(parameters, owner);
  assertOneSource(owner, span, byteSize, parameters.get('shared_memory_region'));
  const part = sharedMemoryPart(parameters, owner);
  if (!(span instanceof JsonSpan)) return { name, datatype, shape, byteSize: byteSize ?? 0, data: undefined, part };
  const data = decodeJsonTensor({ name, datatype, shape, text: header, span, limits });
  return { name, datatype, shape, byteSize: 0, data, part };
}

function assertOneSource(owner: string, ...sources: readonly (JsonValue | undefined)[]): void {
  const given = sources.filter((source) => source !== undefined).length;
  if (given === 1) return;
  throw new ProtocolError(
    'bad-size',
    `${owner} must bring its data in exactly one way, found ${given}: ` +
      "'data', or parameter 'binary_data_size', or parameter 'shared_memory_region'",
  );
}

function datatypeMember(entry: JsonObject, owner: string): Datatype {
  const datatype = stringMember(entry, 'datatype', owner);
  if (isDatatype(datatype)) return datatype;
  throw new ProtocolError(
    'bad-member',
    `data-type '${datatype}' of ${owner} is unknown; expected BOOL, UINT8 … UINT64, INT8 … INT64, FP16, BF16, FP32, FP64 or BYTES`,
  );
}

const MAX_TARGETS = 8;

/** The signature of a template for each of the models it was sent to lately. */
class SignatureTable {
  #target: ModelTarget | undefined;
  #signature = new RequestSignature();
  readonly #others = new Map<ModelTarget, RequestSignature>();

  for(target: ModelTarget): RequestSignature {
    if (target === this.#target) return this.#signature;
    let signature = this.#others.get(target);
    if (signature === undefined) {
      if (this.#others.size === MAX_TARGETS) this.#others.clear();
      signature = new RequestSignature();
      this.#others.set(target, signature);
    }
    this.#target = target;
    this.#signature = signature;
    return signature;
  }
}
