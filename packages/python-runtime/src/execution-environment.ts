/**
 * Environments that travel with a model: an archive as conda-pack makes it, or a directory that holds one unpacked.
 *
 * An archive is unpacked once per content: `<cache>/<sha256>` is a link that appears when the directory it names is complete, so that several servers may
 * do it at the same time. Entries that would leave the directory are refused by tar.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { PythonRuntimeError } from './errors.ts';

const run = promisify(execFile);
const MODEL_DIRECTORY = '$$TRITON_MODEL_DIRECTORY';

export interface EnvironmentRequest {
  readonly modelName: string;
  /** Absolute; stands for `$$TRITON_MODEL_DIRECTORY`, and is where a relative path begins. */
  readonly modelDirectory: string;
  /** Value of EXECUTION_ENV_PATH. */
  readonly path: string;
  /** Where archives are unpacked. */
  readonly cacheDirectory: string;
}

/** A Python and the variables it needs beyond the server's own. */
export interface ExecutionEnvironment {
  readonly python: string;
  readonly env: NodeJS.ProcessEnv;
}

/** `$XDG_CACHE_HOME/nereid/python`, or the same under `~/.cache`. */
export function defaultCacheDirectory(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'nereid', 'python');
}

/**
 * Finds the environment, unpacking it when its content was not seen before.
 * @throws {PythonRuntimeError} `python`: nothing at that path, no archive, or no Python in it
 */
export async function openEnvironment(request: EnvironmentRequest): Promise<ExecutionEnvironment> {
  const path = resolve(request.modelDirectory, request.path.replace(MODEL_DIRECTORY, request.modelDirectory));
  const found = await stat(path).catch((error: unknown) => refuse(request, `'${path}' cannot be read`, error));
  const directory = found.isDirectory() ? path : await unpacked(path, request);
  const bin = join(directory, 'bin');
  for (const name of ['python3', 'python']) {
    const python = join(bin, name);
    if (await exists(python)) return { python, env: variables(directory, bin) };
  }
  return refuse(request, `'${path}' has no bin/python3; pack a whole environment, e.g. with conda-pack`);
}

function variables(directory: string, bin: string): NodeJS.ProcessEnv {
  return { CONDA_PREFIX: directory, PATH: `${bin}:${process.env.PATH ?? ''}`, PYTHONNOUSERSITE: '1' };
}

async function unpacked(archive: string, request: EnvironmentRequest): Promise<string> {
  const link = join(request.cacheDirectory, await contentHash(archive));
  if (await exists(link)) return link;
  await mkdir(request.cacheDirectory, { recursive: true, mode: 0o700 });
  const directory = await mkdtemp(`${link}.`);
  try {
    await run('tar', ['-xf', archive, '-C', directory]);
    // Writes the present path into the scripts, so nothing is moved afterwards.
    const relocate = join(directory, 'bin', 'conda-unpack');
    if (await exists(relocate))
      await run(relocate, [], { env: { ...process.env, ...variables(directory, join(directory, 'bin')) } });
    await symlink(directory, link);
    return link;
  } catch (thrown) {
    await rm(directory, { recursive: true, force: true });
    // Somebody else was faster, with the same content.
    if (await exists(link)) return link;
    return refuse(request, `'${archive}' cannot be unpacked`, thrown);
  }
}

async function contentHash(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function refuse({ modelName }: EnvironmentRequest, what: string, cause?: unknown): never {
  const why = cause instanceof Error ? `: ${cause.message.trim()}` : '';
  throw new PythonRuntimeError({
    code: 'INVALID_ARG',
    reason: 'python',
    message: `model '${modelName}': parameter EXECUTION_ENV_PATH: ${what}${why}`,
    cause,
  });
}
