import { readdir, stat } from 'node:fs/promises';
import { InferenceServerError } from '@nereid/core';
import { type ModelFile, sniffModelFile } from '@nereid/model-archive';
import { PyTorchBackendError } from './errors.ts';
import { resolveInside } from './inside.ts';
import type { Engine } from './parameters.ts';

const PLATFORMS: Readonly<Record<string, Engine>> = {
  pytorch_libtorch: 'torchscript',
  libtorch: 'torchscript',
  torch_aoti: 'aoti',
};

const DEFAULT_FILENAMES: Readonly<Record<Engine, string>> = { torchscript: 'model.pt', aoti: 'model.pt2' };

const PLATFORM_OF: Readonly<Record<Engine, string>> = { torchscript: 'pytorch_libtorch', aoti: 'torch_aoti' };

export interface FileRequest {
  readonly modelName: string;
  readonly versionDirectory: string;
  /** `platform` of the configuration; '' when it has none, and the file decides. */
  readonly platform: string;
  /** `default_model_filename` of the configuration; '' for the platform's default. */
  readonly filename: string;
}

/**
 * Files for GPUs of a compute capability, by capability (`9.0`). They are not looked at: a machine has only some of them.
 * @throws {PyTorchBackendError} `file`: one outside of the version directory
 */
export function filesByCapability(
  request: Pick<FileRequest, 'modelName' | 'versionDirectory'>,
  names: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const field = 'cc_model_filenames';
  return new Map([...names].map(([capability, name]) => [capability, insidePath(request, { field, name })]));
}

/** A file that torch can open, and which part of torch opens it. */
export interface LocatedFile {
  readonly path: string;
  readonly engine: Engine;
}

/**
 * Finds the model file of a version and recognises it, before torch opens it.
 * @throws {PyTorchBackendError} `file`: missing, outside the version directory, not a model file, or one for the other platform
 */
export async function locateFile(request: FileRequest): Promise<LocatedFile> {
  const expected = PLATFORMS[request.platform];
  const path = await existingPath(request, expected);
  const engine = await recogniseFile(request.modelName, path);
  if (expected === undefined || expected === engine) return { path, engine };
  throw fileError(
    'INVALID_ARG',
    `model '${request.modelName}': platform is ${request.platform}, but '${path}' is for platform ${PLATFORM_OF[engine]}; ` +
      `set platform: "${PLATFORM_OF[engine]}"`,
  );
}

/**
 * Which engine a file is for.
 * @throws {PyTorchBackendError} `file`, with what the file is and what to do
 */
export async function recogniseFile(modelName: string, path: string): Promise<Engine> {
  const file = await sniff(modelName, path);
  if (file.kind === 'torchscript' || file.kind === 'aoti') return file.kind;
  const remedy = file.remedy === undefined ? '' : ` ${file.remedy}`;
  throw fileError('INTERNAL', `failed to load model '${modelName}': ${file.summary}${remedy}`);
}

async function sniff(modelName: string, path: string): Promise<ModelFile> {
  try {
    return await sniffModelFile(path);
  } catch (thrown) {
    const { code, message } = InferenceServerError.from(thrown);
    const text = `failed to load model '${modelName}': ${message}`;
    throw new PyTorchBackendError({ code, reason: 'file', message: text, cause: thrown });
  }
}

async function existingPath(request: FileRequest, engine: Engine | undefined): Promise<string> {
  const names = request.filename === '' ? defaultNames(engine) : [request.filename];
  const paths = names.map((name) => insidePath(request, { field: 'default_model_filename', name }));
  for (const path of paths) if (await exists(path)) return path;
  throw fileError(
    'UNAVAILABLE',
    `unable to find '${paths.join("' or '")}' for model '${request.modelName}'; ${await listing(request.versionDirectory)}`,
  );
}

function defaultNames(engine: Engine | undefined): readonly string[] {
  return engine === undefined ? Object.values(DEFAULT_FILENAMES) : [DEFAULT_FILENAMES[engine]];
}

function insidePath(
  { modelName, versionDirectory }: Pick<FileRequest, 'modelName' | 'versionDirectory'>,
  { field, name }: { readonly field: string; readonly name: string },
): string {
  const path = resolveInside(versionDirectory, name);
  if (path !== undefined) return path;
  throw fileError(
    'INVALID_ARG',
    `model '${modelName}': ${field} is '${name}', which is not inside the version directory '${versionDirectory}'`,
  );
}

async function exists(path: string): Promise<boolean> {
  // Whatever else is wrong with an existing file is told better by who reads it.
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? undefined : error));
  return found !== undefined;
}

async function listing(directory: string): Promise<string> {
  const names = await readdir(directory).catch(() => undefined);
  if (names === undefined) return `the directory '${directory}' cannot be read`;
  if (names.length === 0) return `the directory '${directory}' is empty`;
  const shown = names.slice(0, 10).join(', ');
  return `the directory holds ${shown}${names.length > 10 ? ' …' : ''}. Name the file with default_model_filename.`;
}

function fileError(code: 'INVALID_ARG' | 'INTERNAL' | 'UNAVAILABLE', message: string): PyTorchBackendError {
  return new PyTorchBackendError({ code, reason: 'file', message });
}
