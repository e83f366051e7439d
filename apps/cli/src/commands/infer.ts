import { type Command, Option } from 'commander';
import { type CommandContext, examples, version, wholeNumber } from './command.ts';

export interface InferOptions {
  readonly url?: string;
  readonly protocol?: 'http' | 'grpc';
  readonly modelVersion?: string;
  readonly input: readonly string[];
  readonly json?: string;
  readonly random?: boolean;
  readonly seed: number;
  readonly batch: number;
  readonly output: readonly string[];
  readonly outputDir?: string;
  readonly rawJson?: boolean;
  readonly showBatch?: boolean;
  readonly timeout: number;
}

export function addInferCommand(program: Command, { io, exit }: CommandContext): void {
  program
    .command('infer')
    .summary('send one inference request to a server')
    .description('Sends one inference request to a running server and shows what comes back.')
    .argument('<model>', 'name of the model')
    .option('--url <url>', 'address of the server (default: http://127.0.0.1:8000, or grpc://127.0.0.1:8001)')
    .addOption(
      new Option('--protocol <name>', 'what to speak (default: as the address says)').choices(['http', 'grpc']),
    )
    .addOption(new Option('--model-version <n>', 'version of the model (default: the latest)').argParser(version))
    .option('--input <name=value>', 'an input: FILE.npy, FILE.json or JSON text; may be repeated', collect, [])
    .addOption(
      new Option('--json <file>', 'a whole request, or an object {name: data}; - for standard input').conflicts(
        'input',
      ),
    )
    .option('--random', 'fill the inputs that are not given with random values')
    .option('--seed <n>', 'of the random values', wholeNumber(0), 0)
    .option('--batch <n>', 'rows of the random inputs', wholeNumber(1), 1)
    .option('--output <name>', 'return this output only; may be repeated', collect, [])
    .option('--output-dir <dir>', 'write each output as NAME.npy into a directory')
    .addOption(new Option('--raw-json', 'print the answer as JSON, as the server sends it').conflicts('outputDir'))
    .option('--show-batch', 'tell which batch the request ran in, how large it was and why it was closed')
    .option('--timeout <seconds>', 'how long to wait for each answer', wholeNumber(1), 60)
    .addHelpText(
      'after',
      examples(
        'nereid infer mlp --random',
        'nereid infer mlp --random --batch 8 --seed 1',
        'nereid infer mlp --random --url grpc://127.0.0.1:8001',
        'nereid infer mlp --input INPUT__0=features.npy --output-dir results',
        'nereid infer sentiment --input \'text=["good", "bad"]\'',
        'echo \'{"a": [1, 2], "b": [3, 4]}\' | nereid infer addsub --json - --raw-json',
      ),
    )
    .action(async (model: string, options: InferOptions) => {
      const { runInfer } = await import('../infer/run.ts');
      exit(await runInfer(model, options, io));
    });
}

function collect(value: string, values: readonly string[]): readonly string[] {
  return [...values, value];
}
