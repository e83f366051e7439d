import { type Command, Option } from 'commander';
import { type CommandContext, examples } from './command.ts';

export interface InspectOptions {
  readonly json?: boolean;
  readonly config?: boolean;
  readonly model?: string;
}

export function addInspectCommand(program: Command, { io, exit }: CommandContext): void {
  program
    .command('inspect')
    .summary('tell what a model file is, takes and returns')
    .description(
      'Tells what kind of file it is and, for models that can be served, every input and output; for a model directory also whether its ' +
        'configuration fits its files. Nothing is executed and PyTorch is not needed.',
    )
    .argument('<path>', 'model file, or model directory (with config.pbtxt and version directories)')
    .option('--json', 'print JSON')
    .addOption(new Option('--config', 'print a complete config.pbtxt for the model').conflicts('json'))
    .option('--model <name>', 'which model of a .pt2 package that holds several')
    .addHelpText(
      'after',
      examples(
        'nereid inspect model.pt2',
        'nereid inspect models/mlp',
        'nereid inspect --config model.pt2 > models/mlp/config.pbtxt',
        "nereid inspect --json model.pt2 | jq '.inputs'",
      ),
    )
    .action(async (path: string, options: InspectOptions) => {
      const { runInspect } = await import('../inspect/run.ts');
      exit(await runInspect(path, options, io));
    });
}
