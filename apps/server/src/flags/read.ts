import { readEnvironment } from './environment.ts';
import { type Environment, mergeLayers, type ParsedFlags } from './layer.ts';
import { readCommandLine } from './parse.ts';

export interface ReadFlagsOptions {
  /** Default: that of the process. */
  readonly env?: Environment;
}

/**
 * The options of a server, from all places: the command line goes before the environment, that before the file that `--config` names.
 * @throws {UsageError} for an unknown option, a missing or bad value, in whatever place, and for a file that cannot be read
 */
export async function readFlags(
  argv: readonly string[],
  { env = process.env }: ReadFlagsOptions = {},
): Promise<ParsedFlags> {
  const { layer: words, files } = readCommandLine(argv);
  const { layer: variables, warnings } = readEnvironment(env);
  const upper = [words, variables];
  const { config } = mergeLayers(upper).values;
  const rest = { files, warnings, env };
  if (config === '') return { ...mergeLayers(upper), ...rest };
  // Loaded here, so that a server without such a file does not wait for its parser.
  const { readConfigFile } = await import('./config-file.ts');
  return { ...mergeLayers([...upper, readConfigFile(config)]), ...rest };
}
