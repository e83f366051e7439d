/** Fits a configuration to the `forward` of a TorchScript module: every argument gets one input, every output a result. */
import { datatypeToConfig, type Logger } from '@nereid/core';
import type { ForwardSchema, SchemaArgument } from '@nereid/native';
import { PyTorchBackendError } from './errors.ts';
import type { PlannedInput, PlannedOutput, PlannedState } from './model-plan.ts';
import { type InputSpec, type OutputSpec, roleOf, type StateSpec } from './tensor-spec.ts';
import { resolveOutputNames } from './torchscript-names.ts';
import { checkControlDatatypes, checkIndexed, placeInputs } from './torchscript-positions.ts';

export interface SignatureRequest {
  readonly modelName: string;
  readonly schema: ForwardSchema;
  /** Every tensor that forward takes, wherever it comes from. */
  readonly inputs: readonly InputSpec[];
  readonly outputs: readonly OutputSpec[];
  readonly states: readonly StateSpec[];
  readonly logger: Logger;
}

/**
 * Inputs in the order of the arguments.
 *
 * @throws {PyTorchBackendError} `signature`: count, an argument type that no tensor fits, positions claimed twice or by nobody, datatypes
 */
export function bindTorchScriptInputs(request: SignatureRequest): readonly PlannedInput[] {
  const { schema, inputs } = request;
  checkControlDatatypes(request);
  const [first] = schema.arguments;
  if (schema.arguments.length === 1 && first !== undefined && isDictionary(first.type)) {
    return bindDictionary(request, first);
  }
  checkArguments(request);
  checkCount(request);
  const { convention, positions } = placeInputs(request);
  if (convention === 'order') logOrder(request);
  checkPositions(request, positions);
  return inputs
    .map((spec, i) => ({ spec, position: positions[i] ?? 0 }))
    .sort((a, b) => a.position - b.position)
    .map(({ spec, position }) => ({
      spec: fitted(request, spec, schema.arguments[position]),
      key: '',
      declared: undefined,
    }));
}

export interface BoundOutputs {
  readonly outputs: readonly PlannedOutput[];
  /** In the order of `states`. */
  readonly states: readonly PlannedState[];
}

/**
 * Outputs and states in the order of the configuration. One result may be both.
 *
 * @throws {PyTorchBackendError} `signature`: none configured, names without an index beside states, one result claimed twice, or one beyond a tuple of
 *   fixed length
 */
export function bindTorchScriptOutputs(request: SignatureRequest): BoundOutputs {
  const { modelName, schema, outputs, states } = request;
  if (outputs.length === 0) {
    throw signatureError(
      'INTERNAL',
      `unable to load model '${modelName}', model configuration must contain at least one output, none were specified`,
    );
  }
  if (isDictionary(schema.returns[0] ?? '')) {
    return {
      outputs: outputs.map((spec) => ({ spec, index: -1, key: spec.name })),
      states: states.map((spec) => ({ spec, index: -1, key: spec.output.name })),
    };
  }
  if (states.length > 0) {
    checkIndexed(modelName, [
      ...outputs.map(({ name }) => ({ role: 'output', name })),
      ...states.map(({ output: { name } }) => ({ role: 'state output', name })),
    ]);
  }
  const boundOutputs = bindResults(request, { role: 'outputs', specs: outputs });
  const boundStates = bindResults(request, { role: 'states', specs: states.map(({ output }) => output) });
  return {
    outputs: boundOutputs,
    states: states.map((spec, i) => ({ spec, index: boundStates[i]?.index ?? 0, key: '' })),
  };
}

function bindResults(
  request: SignatureRequest,
  { role, specs }: { readonly role: 'outputs' | 'states'; readonly specs: readonly OutputSpec[] },
): readonly PlannedOutput[] {
  const { positions } = resolveOutputNames(specs.map(({ name }) => name));
  const bound = specs.map((spec, i) => ({ spec, index: positions[i] ?? 0, key: '' }));
  checkResults(request, { role, bound });
  return bound;
}

function bindDictionary(request: SignatureRequest, { name, type }: SchemaArgument): readonly PlannedInput[] {
  for (const input of request.inputs) {
    if ((input.datatype === 'BYTES') === (type === DICTIONARY_OF_STRINGS)) continue;
    throw signatureError(
      'INVALID_ARG',
      `model '${request.modelName}': input '${input.name}' is ${datatypeToConfig(input.datatype)}, but forward takes its inputs in ` +
        `'${name}: ${type}'; TYPE_STRING goes with List[str] and nothing else`,
    );
  }
  return request.inputs.map((spec) => ({ spec, key: spec.name, declared: undefined }));
}

function checkArguments({ modelName, schema }: SignatureRequest): void {
  for (const argument of schema.arguments) {
    if (isTensor(argument.type) || isStrings(argument.type) || mayBeAbsent(argument)) continue;
    throw signatureError(
      'INTERNAL',
      `An input of type '${argument.type}' was detected in the model '${modelName}': argument '${argument.name}' of forward. ` +
        'Every argument must be a Tensor, an Optional[Tensor] or a List[str], or forward takes one Dict[str, Tensor].',
    );
  }
}

function checkCount({ modelName, schema, inputs }: SignatureRequest): void {
  const all = schema.arguments;
  let required = all.length;
  while (required > 0 && mayBeAbsent(all[required - 1])) required--;
  if (inputs.length >= required && inputs.length <= all.length) return;
  throw signatureError(
    'INVALID_ARG',
    `unable to load model '${modelName}', configuration expects ${inputs.length} inputs, model provides ${all.length}: ` +
      `forward(${all.map(describeArgument).join(', ')})`,
  );
}

function checkPositions(request: SignatureRequest, positions: readonly (number | undefined)[]): void {
  const { modelName, schema, inputs } = request;
  const claims = new Map<number, string>();
  const faults: string[] = [];
  for (const [i, position] of positions.entries()) {
    const name = inputs[i]?.name ?? '';
    if (position === undefined) {
      faults.push(`${label(inputs[i])} is no argument of forward`);
      continue;
    }
    const other = claims.get(position);
    if (schema.arguments[position] === undefined) {
      faults.push(`${label(inputs[i])} names position ${position}, which forward does not have`);
    } else if (other !== undefined) {
      faults.push(`inputs '${other}' and '${name}' both claim ${describePosition(schema, position)}`);
    }
    claims.set(position, name);
  }
  for (let position = 0; position < inputs.length; position++) {
    if (!claims.has(position)) faults.push(`no input claims ${describePosition(schema, position)}`);
  }
  if (faults.length === 0) return;
  throw signatureError(
    'INVALID_ARG',
    `model '${modelName}': ${faults.join('; ')}. Name each input after its argument, or <name>__<position> from 0.`,
  );
}

/** The same input, once its datatype fits the argument. */
function fitted({ modelName }: SignatureRequest, spec: InputSpec, argument: SchemaArgument | undefined): InputSpec {
  if (argument === undefined) return spec;
  if (!isTensor(argument.type) && !isStrings(argument.type)) {
    throw signatureError(
      'INTERNAL',
      `An input of type '${argument.type}' was detected in the model '${modelName}': argument '${argument.name}' of forward, which ` +
        `${label(spec)} stands for, takes no tensor. Leave it out of the configuration, so that its default holds.`,
    );
  }
  if (spec.optional && !mayBeAbsent(argument)) {
    throw signatureError(
      'INVALID_ARG',
      `model '${modelName}': input '${spec.name}' is optional, but argument '${argument.name}: ${argument.type}' of forward is neither ` +
        `Optional[${argument.type}] nor has it a default; remove optional: true, or change the argument`,
    );
  }
  if (isStrings(argument.type) === (spec.datatype === 'BYTES')) return spec;
  throw signatureError(
    'INVALID_ARG',
    `model '${modelName}': ${label(spec)} is ${datatypeToConfig(spec.datatype)}, but argument '${argument.name}' of forward is ` +
      `${argument.type}; TYPE_STRING goes with List[str] and nothing else`,
  );
}

function checkResults(
  { modelName, schema }: SignatureRequest,
  { role, bound }: { readonly role: 'outputs' | 'states'; readonly bound: readonly PlannedOutput[] },
): void {
  const claims = new Map<number, string>();
  for (const { spec, index } of bound) {
    const other = claims.get(index);
    if (other !== undefined) {
      throw signatureError(
        'INVALID_ARG',
        `model '${modelName}': ${role} '${other}' and '${spec.name}' both claim result ${index} of forward`,
      );
    }
    claims.set(index, spec.name);
    const count = resultTypes(schema)?.length;
    if (count === undefined || index < count) continue;
    throw signatureError(
      'INVALID_ARG',
      `The output ${spec.name} in the model configuration refers to an output index which doesn't exist. This model has ${count} outputs`,
    );
  }
}

/** Types of what forward returns, when their number is fixed: one for a tensor or list of strings, each of a tuple. */
function resultTypes(schema: ForwardSchema): readonly string[] | undefined {
  const [type = ''] = schema.returns;
  const types = /^Tuple\[(.*)\]$/.exec(type)?.[1]?.split(', ') ?? [type];
  return types.every((each) => isTensor(each) || isStrings(each)) ? types : undefined;
}

/** Order decides silently in the original, and swapped inputs are its most common complaint: say which went where. */
function logOrder({ modelName, schema, inputs: all, logger }: SignatureRequest): void {
  const inputs = all.filter((input) => roleOf(input) === 'input');
  const mapping = inputs.map((input, i) => `${input.name} → ${schema.arguments[i]?.name ?? i}`).join(', ');
  const known = inputs.filter((input) => schema.arguments.some((argument) => argument.name === input.name));
  const fields = { model: modelName };
  if (known.length === 0) {
    logger.info(fields, `inputs of model '${modelName}' go to forward in the order of the configuration: ${mapping}`);
    return;
  }
  logger.warn(
    fields,
    `some inputs of model '${modelName}' are named after arguments of forward (${known.map((input) => input.name).join(', ')}) and some are ` +
      `not, so the order of the configuration decides for all: ${mapping}`,
  );
}

function describeArgument(argument: SchemaArgument): string {
  return `${argument.name}: ${argument.type}${argument.hasDefault ? ' = …' : ''}`;
}

function label(spec: InputSpec | undefined): string {
  return spec === undefined ? '' : `${roleOf(spec)} '${spec.name}'`;
}

function describePosition(schema: ForwardSchema, position: number): string {
  return `position ${position} (argument '${schema.arguments[position]?.name ?? ''}')`;
}

function mayBeAbsent(argument: SchemaArgument | undefined): boolean {
  return argument !== undefined && (argument.hasDefault || argument.type.startsWith('Optional['));
}

function isTensor(type: string): boolean {
  return type === 'Tensor' || type === 'Optional[Tensor]';
}

function isStrings(type: string): boolean {
  return type === 'List[str]' || type === 'Optional[List[str]]';
}

const DICTIONARY_OF_STRINGS = 'Dict[str, List[str]]';

function isDictionary(type: string): boolean {
  return type === 'Dict[str, Tensor]' || type === DICTIONARY_OF_STRINGS;
}

function signatureError(code: 'INTERNAL' | 'INVALID_ARG', message: string): PyTorchBackendError {
  return new PyTorchBackendError({ code, reason: 'signature', message });
}
