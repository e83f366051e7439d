/** Release of PyTorch that the addon is written for: `2.13`. */
export const TORCH_RELEASE: string;

/** A usable LibTorch. `origin` says who named it: `--libtorch`, `NEREID_LIBTORCH`, `python3 on PATH`, or a `.venv` directory. */
export interface FoundLibtorch {
  readonly origin: string;
  readonly directory: string;
  /** E.g. `2.13.0+cpu`. */
  readonly version: string;
}

/** A place that was looked at and not taken. `directory` is undefined if the origin led nowhere. */
export interface RejectedLibtorch {
  readonly origin: string;
  readonly directory: string | undefined;
  readonly reason: string;
}

export interface LibtorchSearch {
  readonly found: FoundLibtorch | undefined;
  readonly rejected: readonly RejectedLibtorch[];
}

export interface LibtorchSearchOptions {
  /** Looks only here. */
  readonly directory?: string;
  /** Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where relative paths and the search for `.venv` start. Default: the working directory. */
  readonly cwd?: string;
}

/**
 * Looks in order at `directory`, or else `NEREID_LIBTORCH`; if neither is given, at the torch of the active Python and of a `.venv` in or above the working
 * directory or this package. The first usable place is taken; a place that was named outright is the only one. Blocks while it asks Python.
 */
export function findLibtorch(options?: LibtorchSearchOptions): LibtorchSearch;

/** Version of the LibTorch in a directory, e.g. `2.13.0+cpu`; undefined if there is none. */
export function libtorchVersion(directory: string): string | undefined;

/** One line per place: what was found and what was not taken, and why. */
export function describeSearch(search: LibtorchSearch): readonly string[];
