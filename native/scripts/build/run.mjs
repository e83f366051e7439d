import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Problem } from './problem.mjs';

const KEPT_LINES = 60;

/**
 * Runs a command and shows each line of its output to `onLine`.
 * @throws {Problem} with the end of the output when it fails
 */
export async function run({ command, args, cwd, env = {}, onLine = () => {} }) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const tail = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      tail.push(line);
      if (tail.length > KEPT_LINES) tail.shift();
      onLine(line);
    });
  }
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0)
    throw new Problem(
      `${tail.join('\n')}\n\n${command} failed with exit code ${code}; the end of its output is above.`,
    );
}
