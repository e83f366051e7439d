/** From the options of the command line to the tensors of a request. */
import type { Tensor } from '@nereid/core';
import { elements, nearestName, toBf16 } from '@nereid/core';
import { readLimited } from '@nereid/repository';
import type { InferOptions } from '../commands/infer.ts';
import { CliError } from '../errors.ts';
import { readNpy } from '../npy/read.ts';
import { jsonTensor } from './json-tensor.ts';
import { parseJson } from './json-value.ts';
import type { ModelTensors, TensorMetadata } from './metadata.ts';
import { randomFrom, randomTensor } from './random.ts';

/** What one buffer of Node.js holds, and no request takes more. */
export const MAX_FILE_BYTES = 2 ** 31 - 1;

/** Values by input name, where they came from an object. */
export type JsonValues = Readonly<Record<string, unknown>>;

/**
 * @param values from --json, when it is an object of values
 * @throws {CliError} for unknown names, values that do not fit, and when nothing is given
 */
export async function buildInputs(
  metadata: ModelTensors,
  { options, values = {} }: { readonly options: InferOptions; readonly values?: JsonValues | undefined },
): Promise<readonly Tensor[]> {
  const given = new Map<string, Tensor>();
  for (const [name, value] of Object.entries(values)) given.set(name, jsonTensor(find(metadata, name), value));
  for (const text of options.input) {
    const tensor = await readInput(metadata, text);
    if (given.has(tensor.name)) throw new CliError('usage', `input '${tensor.name}' is given twice`);
    given.set(tensor.name, tensor);
  }
  if (given.size === 0 && !options.random && metadata.inputs.length > 0) throw nothingGiven(metadata);
  const random = randomFrom(options.seed);
  return metadata.inputs.flatMap((input) => {
    const tensor = given.get(input.name);
    if (tensor !== undefined) return [tensor];
    return options.random ? [randomTensor(input, { batch: options.batch, random })] : [];
  });
}

/** `NAME=VALUE`, where NAME may hold `=`: the longest name of the model that fits decides. */
async function readInput(metadata: ModelTensors, text: string): Promise<Tensor> {
  const fitting = metadata.inputs.filter(({ name }) => text.startsWith(`${name}=`));
  const [input] = fitting.sort((a, b) => b.name.length - a.name.length);
  const equals = text.indexOf('=');
  if (input === undefined && equals < 1) {
    throw new CliError(
      'usage',
      `--input '${text}' has no name: write --input NAME=FILE.npy, NAME=FILE.json or NAME=JSON`,
    );
  }
  const target = input ?? find(metadata, text.slice(0, equals));
  const value = text.slice(target.name.length + 1);
  if (value.endsWith('.npy')) return npyTensor(target, value);
  if (value.endsWith('.json')) return jsonTensor(target, parseText(await readText(value), `'${value}'`));
  return jsonTensor(target, parseText(value, `the value of input '${target.name}'`));
}

async function npyTensor(input: TensorMetadata, file: string): Promise<Tensor> {
  const { name, datatype } = input;
  const tensor = readNpy(await readLimited(file, MAX_FILE_BYTES), file);
  if (tensor.datatype === datatype) return { name, ...tensor };
  // numpy has no BF16, so FP32 stands for it.
  if (datatype === 'BF16' && tensor.datatype === 'FP32')
    return { name, datatype, shape: tensor.shape, data: toBf16(elements({ ...tensor, name, datatype: 'FP32' })) };
  throw new CliError(
    'bad-input',
    `'${file}' is ${tensor.datatype}, but input '${name}' takes ${datatype}; convert it with array.astype(…)`,
  );
}

async function readText(file: string): Promise<string> {
  return (await readLimited(file, MAX_FILE_BYTES)).toString('utf8');
}

/** @throws {CliError} `bad-input` with what JSON.parse says */
export function parseText(text: string, what: string): unknown {
  try {
    return parseJson(text);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new CliError('bad-input', `${what} is no JSON: ${why}`, { cause: thrown });
  }
}

/** @throws {CliError} `usage`, with the nearest name */
function find({ inputs }: ModelTensors, name: string): TensorMetadata {
  const found = inputs.find((input) => input.name === name);
  if (found !== undefined) return found;
  const names = inputs.map((input) => input.name);
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? `its inputs are ${names.join(', ')}` : `did you mean '${nearest}'?`;
  throw new CliError('usage', `the model has no input '${name}'; ${hint}`);
}

function nothingGiven({ inputs }: ModelTensors): CliError {
  const list = inputs.map(({ name, datatype, shape }) => `${name} ${datatype} [${shape.join(', ')}]`).join('; ');
  return new CliError(
    'usage',
    `no input is given: use --input NAME=VALUE, --json FILE or --random. The model takes ${list}`,
  );
}
