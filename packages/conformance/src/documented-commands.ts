/**
 * The commands of a Markdown document, in order. A block marked `sh` is a list of commands, one a line; a block marked `console` is what a terminal
 * shows: `$ command`, and below it what that prints.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type NereidProcess, startNereid } from './nereid-process.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SERVE = 'node_modules/.bin/nereid serve ';
const ASKS = /^node_modules\/\.bin\/nereid infer |\/client\.(py|mjs) /;

export interface DocumentedCommand {
  readonly command: string;
  /** Absent when the document does not show it. */
  readonly printed?: string;
}

/** @param document  relative to the root of this repository */
export function documentedCommands(document: string): readonly DocumentedCommand[] {
  const markdown = readFileSync(join(ROOT, document), 'utf8');
  return [...markdown.matchAll(/^```(sh|console)\n(.*?)^```$/gms)].flatMap(([, kind, block = '']) =>
    kind === 'sh'
      ? block
          .trim()
          .split('\n')
          .map((command) => ({ command }))
      : sessionsOf(block),
  );
}

function sessionsOf(block: string): readonly DocumentedCommand[] {
  const sessions = block.split(/^\$ /m).filter((session) => session !== '');
  return sessions.map((session) => {
    const [command = '', ...printed] = session.trimEnd().split('\n');
    return { command, printed: printed.join('\n') };
  });
}

/** Runs documented commands in the root of this repository. Those that ask a server get the address of the one that was started last. */
export class CommandRunner implements AsyncDisposable {
  #server: NereidProcess | undefined;

  /** @returns what it printed, without the last end of line; of a server nothing */
  async run(command: string): Promise<string> {
    if (command.startsWith(SERVE)) {
      await this.#server?.stop();
      const args = command.slice(SERVE.length).split(' ');
      this.#server = await startNereid(
        [],
        args.map((word) => word.replace(/^examples\//, join(ROOT, 'examples/'))),
      );
      return '';
    }
    const asked = ASKS.test(command) ? `${command} --url ${this.#server?.url}` : command;
    const { stdout } = await promisify(execFile)('sh', ['-c', asked], { cwd: ROOT });
    return stdout.trimEnd();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.stop();
  }
}
