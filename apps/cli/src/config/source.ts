/** Where the text of a configuration comes from, and what stands around it. */
import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fsFault, readLimited, scanModelDirectory } from '@nereid/repository';
import { CliError } from '../errors.ts';
import { type Io, readStream } from '../io.ts';

/** What the parser takes as well. */
const MAX_BYTES = 4 * 1024 * 1024;

export interface ConfigSource {
  /** As messages name it. */
  readonly label: string;
  /** Where the text is written back to; absent for standard input. */
  readonly path?: string;
  readonly text: string;
  readonly format: 'pbtxt' | 'json';
  /** Model directory that the file belongs to; absent when it stands by itself. */
  readonly modelDirectory?: string;
}

/**
 * Reads a file, the config.pbtxt of a directory, or standard input.
 * @throws {CliError} or {RepositoryError} with a sentence, when it is missing, unreadable, too large or no text
 */
export async function readConfigSource(argument: string, io: Pick<Io, 'stdin'>): Promise<ConfigSource> {
  if (argument === '-') {
    return { label: '<stdin>', format: 'pbtxt', text: asText(await readStream(io.stdin, MAX_BYTES), '<stdin>') };
  }
  const info = await stat(argument).catch((error: unknown) => {
    throw new CliError('unreadable', `cannot read '${argument}': ${fsFault(error)}`, { cause: error });
  });
  if (info.isDirectory()) return readFromDirectory(argument);
  const format = argument.endsWith('.json') ? 'json' : 'pbtxt';
  const text = asText(await readLimited(argument, MAX_BYTES), argument);
  const modelDirectory = await surroundingModel(argument);
  return { label: argument, path: argument, text, format, ...(modelDirectory !== undefined && { modelDirectory }) };
}

async function readFromDirectory(directory: string): Promise<ConfigSource> {
  const path = join(directory, 'config.pbtxt');
  if ((await stat(path).catch(() => undefined)) === undefined) {
    throw new CliError(
      'unreadable',
      `'${directory}' holds no config.pbtxt; nereid inspect --config FILE prints one for a model file`,
    );
  }
  return {
    label: path,
    path,
    text: asText(await readLimited(path, MAX_BYTES), path),
    format: 'pbtxt',
    modelDirectory: resolve(directory),
  };
}

/** The directory that the file is the configuration of, when there are versions in it: only then its name and files mean something. */
async function surroundingModel(path: string): Promise<string | undefined> {
  const parent = dirname(resolve(path));
  const directory = basename(parent) === 'configs' ? dirname(parent) : parent;
  const { versions } = await scanModelDirectory(directory);
  return versions.length > 0 ? directory : undefined;
}

function asText(bytes: Buffer, label: string): string {
  if (!bytes.includes(0)) return bytes.toString('utf8');
  throw new CliError(
    'bad-input',
    `'${label}' is a binary file, no configuration; nereid inspect tells what a model file is`,
  );
}
