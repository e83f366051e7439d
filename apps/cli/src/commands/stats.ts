import { type Command, Option } from 'commander';
import { type CommandContext, examples, version, wholeNumber } from './command.ts';

export interface StatsOptions {
  readonly url: string;
  readonly modelVersion?: string;
  readonly json?: boolean;
  readonly timeout: number;
}

export function addStatsCommand(program: Command, { io, exit }: CommandContext): void {
  program
    .command('stats')
    .summary('tell what the models of a server did, in which batches and why')
    .description(
      'Shows what the models of a running server did since they were loaded: requests and failures, where the time of a request went, how large ' +
        'batches were, and why the dynamic batcher closed them.',
    )
    .argument('[model]', 'name of the model (default: all that are ready)')
    .option('--url <url>', 'address of the server', 'http://127.0.0.1:8000')
    .addOption(
      new Option('--model-version <n>', 'version of the model (default: all that are ready)').argParser(version),
    )
    .option('--json', "print the server's statistics as JSON")
    .option('--timeout <seconds>', 'how long to wait for the answer', wholeNumber(1), 60)
    .addHelpText(
      'after',
      examples(
        'nereid stats',
        'nereid stats mlp --url http://127.0.0.1:9000',
        'nereid stats mlp --model-version 3 --json',
      ),
    )
    .action(async (model: string | undefined, options: StatsOptions) => {
      const { runStats } = await import('../stats/run.ts');
      exit(await runStats(model, options, io));
    });
}
