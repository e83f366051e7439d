import type { Command } from 'commander';
import { CliError } from '../errors.ts';
import { type Io, printLine } from '../io.ts';
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
  const { configSchema, runServer, serveHelp, UsageError } = await import('@nereid/server');
  if (argv.includes('--config-schema')) {
    printLine(io.stdout, JSON.stringify(configSchema(), null, 2));
    return 0;
  }
  const term = helpTerm(argv);
  if (term !== undefined) {
    const found = serveHelp({ term });
    if (found === '') throw new CliError('usage', `no option of serve has to do with '${term}'`);
    io.stdout.write(term === '' ? help(found) : `${found}\n`);
    return 0;
  }
  try {
    return await runServer(argv, { env: io.env });
  } catch (thrown) {
    if (thrown instanceof UsageError) throw new CliError('usage', thrown.message, { cause: thrown });
    throw thrown;
  }
}

/** What help is asked about: '' is everything; undefined when none is asked for. */
function helpTerm(argv: readonly string[]): string | undefined {
  const at = argv.findIndex((word) => word === '-h' || word === '--help' || word.startsWith('--help='));
  if (at === -1) return undefined;
  const [, own] = (argv[at] ?? '').split('=');
  return (
    own ??
    argv
      .slice(at + 1)
      .filter((word) => !word.startsWith('-'))
      .join(' ')
  );
}

function help(options: string): string {
  return `Usage: nereid serve ${USAGE}

${DESCRIPTION}
Each FILE (model.pt2, model.pt) is served as a model named after it; what its configuration would say is taken from the file.
Names, meanings and syntax of the options are those of tritonserver: --name=value or --name value, an unambiguous beginning of a name is enough,
and options of tritonserver that have no effect here are accepted with a warning. nereid serve --help WORD tells the options that have to do with it.

Every option is also a variable, NEREID_HTTP_PORT=8080 (members of one that may be repeated stand between semicolons), and a line of a YAML or JSON file,
http-port: 8080, that --config names (one that may be repeated is a list there, and relative paths are relative to the file). The command line goes before
the environment, that before the file. nereid serve --config-schema prints the JSON Schema of such files.

${options}
${examples(
  'nereid serve model.pt2',
  'nereid serve --model-repository models',
  'nereid serve --model-repository models --http-address 0.0.0.0 --http-port 8080',
  'nereid serve --config nereid.yaml',
  'nereid serve --help timeout',
  'nereid serve --model-repository models --log-format=ISO8601 --log-verbose=1',
)}`;
}
