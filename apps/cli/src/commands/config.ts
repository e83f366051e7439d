import { type Command, Option } from 'commander';
import { type CommandContext, examples } from './command.ts';

export interface ConfigOptions {
  readonly json?: boolean;
  readonly parseOnly?: boolean;
  readonly format?: boolean;
  readonly write?: boolean;
}

export function addConfigCommand(program: Command, { io, exit }: CommandContext): void {
  program
    .command('config')
    .summary('check a config.pbtxt and print what it means')
    .description(
      'Checks a model configuration, reports every problem with its place, and prints the complete configuration that a server would use: ' +
        'backend, defaults and instance groups filled in.',
    )
    .argument('<file>', 'config.pbtxt, a model directory, a .json configuration, or - for standard input')
    .option('--json', 'print JSON, as the config endpoint does')
    .option('--parse-only', 'print the configuration as written: nothing filled in, nothing checked but the syntax')
    .addOption(new Option('--format', 'print the file laid out anew, comments kept').conflicts(['json', 'parseOnly']))
    .option('--write', 'with --format: rewrite the file instead of printing')
    .addHelpText(
      'after',
      examples(
        'nereid config models/mlp/config.pbtxt',
        'nereid config --json models/mlp',
        'nereid config --format --write models/mlp/config.pbtxt',
        'nereid inspect --config model.pt2 | nereid config -',
      ),
    )
    .action(async (file: string, options: ConfigOptions) => {
      const { runConfig } = await import('../config/run.ts');
      exit(await runConfig(file, options, io));
    });
}
