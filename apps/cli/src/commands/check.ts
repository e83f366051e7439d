import type { Command } from 'commander';
import { type CommandContext, examples } from './command.ts';

export interface CheckOptions {
  readonly json?: boolean;
  readonly customOps: readonly string[];
}

export function addCheckCommand(program: Command, { io, exit }: CommandContext): void {
  program
    .command('check')
    .summary('find everything that keeps models from being served')
    .description(
      'Checks model repositories, or single model directories, without loading anything: configurations with the place of each problem, names, datatypes ' +
        'and shapes against the model files, the largest batch against the declared range, device, platform and instruction set against this machine, ' +
        'operators outside PyTorch, files that are named, versions and layout.',
    )
    .argument('<directory...>', 'model repositories, or model directories')
    .option('--json', 'print JSON')
    .option(
      '--custom-ops <lib>',
      'a library of operators that the server is started with; may be repeated',
      collect,
      [],
    )
    .addHelpText(
      'after',
      examples(
        'nereid check models',
        'nereid check models/mlp',
        "nereid check --json models | jq '.problems[].message'",
      ),
    )
    .action(async (directories: readonly string[], options: CheckOptions) => {
      const { runCheck } = await import('../check/run.ts');
      exit(await runCheck(directories, options, io));
    });
}

function collect(value: string, values: readonly string[]): readonly string[] {
  return [...values, value];
}
