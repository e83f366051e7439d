export { StrategyLibraryError, type StrategyLibraryErrorReason } from './errors.ts';
export { openStrategyLibrary } from './open-strategy-library.ts';
