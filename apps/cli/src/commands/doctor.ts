import type { Command } from 'commander';
import { type CommandContext, examples } from './command.ts';

export interface DoctorOptions {
  readonly json?: boolean;
  readonly libtorch?: string;
}

export function addDoctorCommand(program: Command, { io, exit }: CommandContext): void {
  program
    .command('doctor')
    .summary('tell whether this machine can serve, and what to do')
    .description(
      'Looks at what serving needs: Node.js, LibTorch (found and rejected, with the reason), its version, C++ ABI and CUDA, the native addon, the ' +
        'instruction set of the processor, usable cores, and Python for models of Python source; each with the remedy where something is wrong.',
    )
    .option('--json', 'print JSON')
    .option('--libtorch <dir>', 'look for LibTorch here only')
    .addHelpText('after', examples('nereid doctor', 'nereid doctor --json', 'nereid doctor --libtorch /opt/libtorch'))
    .action(async (options: DoctorOptions) => {
      const { runDoctor } = await import('../doctor/run.ts');
      exit(await runDoctor(options, io));
    });
}
