import { type Command, Option } from 'commander';
import { type CommandContext, examples, version, wholeNumber } from './command.ts';

export interface WeightsOptions {
  readonly url: string;
  readonly modelVersion?: string;
  readonly timeout: number;
}

export function addWeightsCommand(program: Command, { io, exit }: CommandContext): void {
  program
    .command('weights')
    .summary('give a model of a server new weights')
    .description(
      'Exchanges the weights of a compiled package while a server serves it. The server must have been started with --allow-weight-updates.',
    )
    .argument('<model>', 'name of the model')
    .argument('<file>', "state dict (.pt) or safetensors, a path inside the model's directory on the server")
    .option('--url <url>', 'address of the server', 'http://127.0.0.1:8000')
    .addOption(new Option('--model-version <n>', 'version of the model (default: the latest)').argParser(version))
    .option('--timeout <seconds>', 'how long to wait for the answer', wholeNumber(1), 600)
    .addHelpText(
      'after',
      examples('nereid weights mlp weights/2024-06.pt', 'nereid weights mlp new.safetensors --model-version 3'),
    )
    .action(async (model: string, file: string, options: WeightsOptions) => {
      const { runWeights } = await import('../weights/run.ts');
      exit(await runWeights({ model, file, options }, io));
    });
}
