/** The `nereid` command. Exit codes: 0 done, 1 the operation failed or found problems, 2 the command line is wrong. */
import { InferenceServerError } from '@nereid/core';
import { CommanderError } from 'commander';
import { serve } from './commands/serve.ts';
import { CliError } from './errors.ts';
import { type Io, printLine, processIo } from './io.ts';
import { printableLines } from './output/printable.ts';
import { paintFor } from './output/style.ts';
import { createProgram } from './program.ts';

/**
 * Runs one command.
 *
 * @param argv words after `nereid`
 * @param io streams and environment to use in place of the process's own; what `serve` prints goes to the process's in any case
 * @returns the exit code; never rejects
 */
export async function main(argv: readonly string[], io: Partial<Io> = {}): Promise<number> {
  const complete = { ...processIo, ...io };
  try {
    return await dispatch(argv, complete);
  } catch (thrown) {
    return report(thrown, { command: argv[0] ?? '', io: complete });
  }
}

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  let exitCode = 0;
  const program = createProgram({ io, exit: (code) => (exitCode = code) });
  const isCommand = (word: string) => program.commands.some((known) => known.name() === word);
  const words = spellOut(argv, isCommand);
  // The server's options have a syntax of their own (prefixes, --name=value), which a second parser would only get in the way of.
  if (words[0] === 'serve') return serve(words.slice(1), io);
  await program.parseAsync([...words], { from: 'user' });
  return exitCode;
}

/** `nereid` → `nereid --help`; `nereid help X` → `nereid X --help`; what follows an unknown command is of no interest. */
function spellOut(argv: readonly string[], isCommand: (word: string) => boolean): readonly string[] {
  const [first = '--help', second = '--help', ...rest] = argv;
  if (first === 'help') return isCommand(second) ? [second, '--help'] : [second];
  return isCommand(first) ? argv : [first, ...(first.startsWith('-') && argv.length > 1 ? [second, ...rest] : [])];
}

interface Failure {
  readonly command: string;
  readonly io: Io;
}

function report(thrown: unknown, { command, io }: Failure): number {
  const { message, exitCode } = explain(thrown, command);
  if (message !== undefined) {
    printLine(io.stderr, `${paintFor(io.stderr, io)('red', 'nereid:')} ${printableLines(message)}`);
    if (io.env.NEREID_DEBUG === '1' && thrown instanceof Error) printLine(io.stderr, thrown.stack ?? '');
  }
  return exitCode;
}

function explain(thrown: unknown, command: string): { readonly message?: string; readonly exitCode: number } {
  if (thrown instanceof CommanderError) {
    if (thrown.exitCode === 0) return { exitCode: 0 };
    return { message: withHint(thrown.message.replace(/^error: /, '').replace(/\n/g, ' '), command), exitCode: 2 };
  }
  if (thrown instanceof CliError && thrown.reason === 'usage') {
    return { message: withHint(thrown.message, command), exitCode: 2 };
  }
  if (thrown instanceof InferenceServerError) return { message: thrown.message, exitCode: 1 };
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { message: `unexpected error: ${message}; NEREID_DEBUG=1 shows where it comes from`, exitCode: 1 };
}

const COMMANDS = new Set(['serve', 'init', 'check', 'inspect', 'config', 'infer', 'stats', 'weights', 'doctor']);

function withHint(message: string, command: string): string {
  const help = COMMANDS.has(command) ? `nereid ${command} --help` : 'nereid --help';
  return message.includes('--help') ? message : `${message.replace(/\.$/, '')}; see ${help}`;
}
