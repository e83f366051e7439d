export { RepositoryError, type RepositoryErrorReason } from './errors.ts';
export { fsFault } from './fs-fault.ts';
export { resolveInside } from './inside.ts';
export { type DirectoryEntry, listDirectory } from './list-directory.ts';
export { mapLimited } from './map-limited.ts';
export type {
  CandidateModel,
  ConfigFile,
  DuplicateModel,
  ModelEntry,
  ModelVersion,
  ProblemReason,
  RepositoryProblem,
} from './model.ts';
export { ModelRepository, type ModelRepositoryOptions, scanModelDirectory } from './model-repository.ts';
export { readLimited } from './read-limited.ts';
export { type SelectedVersions, selectVersions } from './select-versions.ts';
export { compareVersions, isVersion } from './version.ts';
