import { Command } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { addCheckCommand } from './commands/check.ts';
import { type CommandContext, examples } from './commands/command.ts';
import { addConfigCommand } from './commands/config.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addInferCommand } from './commands/infer.ts';
import { addInitCommand } from './commands/init.ts';
import { addInspectCommand } from './commands/inspect.ts';
import { addServeCommand } from './commands/serve.ts';
import { addStatsCommand } from './commands/stats.ts';
import { addWeightsCommand } from './commands/weights.ts';

/** The command line as commander sees it. It throws `CommanderError` instead of ending the process. */
export function createProgram(context: CommandContext): Command {
  const { io } = context;
  const program = new Command('nereid')
    .description(
      'Serves PyTorch models over the KServe v2 protocol, and tells what is in model files and configurations.',
    )
    .version(packageJson.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      // Printed where all other errors are.
      outputError: () => {},
    })
    .addHelpText(
      'after',
      examples(
        'nereid serve model.pt2',
        'nereid serve --model-repository models',
        'nereid inspect model.pt2',
        'nereid init model.pt2 --name mlp',
        'nereid check models',
        'nereid config models/mlp/config.pbtxt',
        'nereid infer mlp --random',
      ).concat(EXIT_CODES),
    );
  addServeCommand(program);
  addInitCommand(program, context);
  addCheckCommand(program, context);
  addInspectCommand(program, context);
  addConfigCommand(program, context);
  addInferCommand(program, context);
  addStatsCommand(program, context);
  addWeightsCommand(program, context);
  addDoctorCommand(program, context);
  return program;
}

const EXIT_CODES = `
Exit codes: 0 done, 1 the operation failed or found problems, 2 wrong usage.
NO_COLOR=1 turns colours off; NEREID_DEBUG=1 shows where an error comes from.
`;
