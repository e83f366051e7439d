/** What a scan finds. All of it is data: a fault of one model is a problem in its entry and never touches the others. */

/**
 * - `unreadable-model`: the model directory (or what bears its name) cannot be listed
 * - `unreadable-config`: the configuration file is there and cannot be read
 * - `ignored-version`: a sub-directory, or file with a version's name, that is not served
 */
export type ProblemReason = 'unreadable-model' | 'unreadable-config' | 'ignored-version';

export interface RepositoryProblem {
  /** An error keeps the model from being loaded; a warning does not. */
  readonly severity: 'error' | 'warning';
  readonly reason: ProblemReason;
  /** File or directory concerned. */
  readonly path: string;
  /** Whole sentence that names the path, what is wrong and what to do. */
  readonly message: string;
}

/** A version directory. */
export interface ModelVersion {
  /** Canonical decimal number, at most 2⁶³ − 1. */
  readonly version: string;
  /** Absolute path, links not resolved. */
  readonly directory: string;
  /** Why the directory cannot be used, e.g. a broken link. The version still counts as existing. */
  readonly fault?: string;
}

export interface ConfigFile {
  /** Absolute path. */
  readonly path: string;
  /** Content as UTF-8; bytes that are none become U+FFFD. */
  readonly text: string;
}

/** A directory that may be a model. */
export interface CandidateModel {
  readonly kind: 'model';
  /** Name of the directory. */
  readonly name: string;
  /** Absolute path, links not resolved. */
  readonly directory: string;
  /** Repository it stands in. */
  readonly repository: string;
  /** Absent when there is no configuration file, or when it cannot be read (then `problems` says so). */
  readonly config?: ConfigFile;
  /** Ascending by number. */
  readonly versions: readonly ModelVersion[];
  readonly problems: readonly RepositoryProblem[];
}

/** A name that stands in two or more repositories; none of them is served. */
export interface DuplicateModel {
  readonly kind: 'duplicate';
  readonly name: string;
  /** Absolute paths of all of them. */
  readonly directories: readonly string[];
  readonly message: string;
}

export type ModelEntry = CandidateModel | DuplicateModel;
