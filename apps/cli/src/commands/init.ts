import { type Command, Option } from 'commander';
import { type CommandContext, examples } from './command.ts';

export interface InitOptions {
  readonly name?: string;
  readonly output: string;
  readonly copy?: boolean;
  readonly link?: boolean;
  readonly model?: string;
  readonly force?: boolean;
  readonly run: boolean;
}

export function addInitCommand(program: Command, { io, exit }: CommandContext): void {
  program
    .command('init')
    .summary('write a model directory for a model file')
    .description(
      'Makes a model directory in a model repository: the file in version 1, and a commented config.pbtxt with everything that the file tells. ' +
        'What a package does not state of its outputs is learnt from running it on zeros, which needs PyTorch and runs code of the file.',
    )
    .argument('<file>', 'model file: a .pt2 package or a TorchScript .pt')
    .option('--name <name>', 'name of the model (default: that of the file)')
    .option('--output <dir>', 'model repository to write into', 'models')
    .option('--copy', 'copy the file; the default')
    .addOption(new Option('--link', 'link to the file instead of copying it').conflicts('copy'))
    .option('--model <name>', 'which model of a .pt2 package that holds several')
    .option('--force', 'overwrite what is there')
    .option('--no-run', 'do not run the model for what its file does not state')
    .addHelpText(
      'after',
      examples(
        'nereid init model.pt2 --name mlp',
        'nereid init model.pt2 --name mlp --output /srv/models --link',
        'nereid init model.pt --no-run',
      ),
    )
    .action(async (file: string, options: InitOptions) => {
      const { runInit } = await import('../init/run.ts');
      exit(await runInit(file, options, io));
    });
}
