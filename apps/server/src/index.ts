export { StartError, StoppedError, UsageError } from './errors.ts';
export { flagsHelp as serveHelp } from './flags/help.ts';
export { type ParsedFlags, parseFlags } from './flags/parse.ts';
export type { FlagName, FlagValues } from './flags/table.ts';
export { type Log, type LogFormat, type LogOptions, openLog } from './log.ts';
export { type HttpOptions, optionsFromFlags, type ServerOptions } from './options.ts';
export { runServer } from './run.ts';
export { nameAfterFile, type ServedFile } from './served-files.ts';
export { type RunningServer, startServer } from './start.ts';
