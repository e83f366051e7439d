import type { Command } from 'commander';
import { CliError } from '../errors.ts';
import type { Io } from '../io.ts';
import { examples } from './command.ts';

const DESCRIPTION =
  'Serves model files, and the models of one or more repositories, over HTTP until SIGINT or SIGTERM.';
const USAGE = '[FILE...] [--model-repository DIR] [options]';

/** Only its line in the list of commands: the command itself is run by `serve`, with the server's own syntax. */
export function addServeCommand(program: Command): void {
  program.command('serve').description(DESCRIPTION).usage(USAGE);
}

/** Runs a server until it is told to stop. */
export async function serve(argv: readonly string[], io: Io): Promise<number> {
  // Loaded here, so that no other command waits for the server to load.
  const { runServer, serveHelp, UsageError } = await import('@nereid/server');
  if (argv.includes('--help') || argv.includes('-h')) {
    io.stdout.write(help(serveHelp()));
    return 0;
  }
  try {
    return await runServer(argv);
  } catch (thrown) {
    if (thrown instanceof UsageError) throw new CliError('usage', thrown.message, { cause: thrown });
    throw thrown;
  }
}

function help(options: string): string {
  return `Usage: nereid serve ${USAGE}

${DESCRIPTION}
Each FILE (model.pt2, model.pt) is served as a model named after it; what its configuration would say is taken from the file.
Names, meanings and syntax of the options are those of tritonserver: --name=value or --name value, an unambiguous beginning of a name is enough,
and options of tritonserver that have no effect here are accepted with a warning.

${options}
${examples(
  'nereid serve model.pt2',
  'nereid serve --model-repository models',
  'nereid serve --model-repository models --http-address 0.0.0.0 --http-port 8080',
  'nereid serve --model-repository models --log-format=ISO8601 --log-verbose=1',
)}`;
}
