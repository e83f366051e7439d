import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { RepositoryError } from './errors.ts';
import { fsFault } from './fs-fault.ts';
import { type DirectoryEntry, listDirectory } from './list-directory.ts';
import { mapLimited } from './map-limited.ts';
import type { CandidateModel, DuplicateModel, ModelEntry } from './model.ts';
import { scanModel } from './scan-model.ts';

export interface ModelRepositoryOptions {
  /** Directories that hold model directories, one at least; order does not matter, a path given twice counts once. */
  readonly paths: readonly string[];
  /**
   * Variant of the configuration: a model that has `configs/<configName>.pbtxt` is read with it, others with `config.pbtxt`.
   * Default: none.
   */
  readonly configName?: string | undefined;
  /** Largest configuration file that is read; a larger one is a problem of its model. Default 4 MiB. */
  readonly maxConfigBytes?: number | undefined;
}

const DEFAULT_MAX_CONFIG_BYTES = 4 * 1024 * 1024;
/** Enough to keep Node's four file threads busy, and far below the usual limit on open files. */
const MODELS_AT_ONCE = 32;

/** Models on disk, in one or more directories. Holds no open files and no state but its options. */
export class ModelRepository {
  /** Absolute, ascending. */
  readonly paths: readonly string[];
  readonly #configName: string | undefined;
  readonly #maxConfigBytes: number;

  /** @throws {RepositoryError} `no-path`; `bad-config-name` */
  constructor(options: ModelRepositoryOptions) {
    this.paths = [...new Set(options.paths.map((path) => resolve(path)))].sort();
    this.#configName = options.configName;
    this.#maxConfigBytes = options.maxConfigBytes ?? DEFAULT_MAX_CONFIG_BYTES;
    if (this.paths.length === 0) {
      throw new RepositoryError('no-path', 'no model repository was given; name the directory that holds the models');
    }
    assertConfigName(options.configName);
  }

  /**
   * Finds every model: each sub-directory of a repository, hidden ones included, symbolic links followed. Plain files are passed over.
   *
   * @returns one entry per name, ascending. A fault of one model is part of its entry.
   * @throws {RepositoryError} `not-a-directory` when a repository path is none, or cannot be listed
   */
  async scan(): Promise<readonly ModelEntry[]> {
    const listings = await Promise.all(this.paths.map(listRepository));
    const { unique, duplicates } = groupByName(listings.flat());
    const options = { configName: this.#configName, maxConfigBytes: this.#maxConfigBytes };
    const models: CandidateModel[] = await mapLimited(unique, {
      limit: MODELS_AT_ONCE,
      map: (place) => scanModel(place, options),
    });
    return [...models, ...duplicates].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * Names of the model directories that exist at this moment, ascending, each once. A repository that cannot be listed adds none.
   * Blocks for one directory listing per repository, so that an index is of one moment.
   */
  names(): readonly string[] {
    return [...new Set(this.paths.flatMap(directoryNames))].sort();
  }
}

interface Place {
  readonly repository: string;
  readonly entry: DirectoryEntry;
}

function assertConfigName(name: string | undefined): void {
  if (name === undefined) return;
  if (name !== '' && !/[/\\\0]/.test(name)) return;
  throw new RepositoryError(
    'bad-config-name',
    `'${name}' cannot name a configuration variant: configs/<name>.pbtxt needs a name without path separators`,
  );
}

async function listRepository(repository: string): Promise<readonly Place[]> {
  try {
    const entries = await listDirectory(repository);
    return entries.filter(mayBeModel).map((entry) => ({ repository, entry }));
  } catch (error) {
    throw new RepositoryError(
      'not-a-directory',
      `repository path is not a valid directory: '${repository}': ${fsFault(error)}. ` +
        'Give the directory that holds the model directories.',
      { cause: error },
    );
  }
}

function mayBeModel(entry: DirectoryEntry): boolean {
  return entry.kind === 'directory' || entry.kind === 'unreadable';
}

function groupByName(places: readonly Place[]): { unique: Place[]; duplicates: DuplicateModel[] } {
  const byName = new Map<string, Place[]>();
  for (const place of places) {
    const group = byName.get(place.entry.name);
    if (group === undefined) byName.set(place.entry.name, [place]);
    else group.push(place);
  }
  const unique: Place[] = [];
  const duplicates: DuplicateModel[] = [];
  for (const [name, group] of byName) {
    const [first] = group;
    if (group.length > 1) duplicates.push(duplicate(name, group));
    else if (first !== undefined) unique.push(first);
  }
  return { unique, duplicates };
}

function duplicate(name: string, group: readonly Place[]): DuplicateModel {
  const directories = group.map((place) => place.entry.path);
  return {
    kind: 'duplicate',
    name,
    directories,
    message: `model appears in two or more repositories: ${directories.join(', ')}; rename or remove all but one`,
  };
}

function directoryNames(repository: string): readonly string[] {
  try {
    return readdirSync(repository, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || (entry.isSymbolicLink() && isDirectory(join(repository, entry.name))))
      .map((entry) => entry.name);
  } catch {
    return [];
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Reads one model directory by itself, wherever it stands, as `ModelRepository.scan` reads those of a repository. Never rejects: a directory that is
 * missing or unreadable is a problem of the model.
 *
 * @param directory links followed; its name is the model's
 * @param options as those of `ModelRepository`
 */
export function scanModelDirectory(
  directory: string,
  options: Pick<ModelRepositoryOptions, 'configName' | 'maxConfigBytes'> = {},
): Promise<CandidateModel> {
  const path = resolve(directory);
  const { configName, maxConfigBytes = DEFAULT_MAX_CONFIG_BYTES } = options;
  const entry = { name: basename(path), path, kind: 'directory' } as const;
  return scanModel({ repository: dirname(path), entry }, { configName, maxConfigBytes });
}
