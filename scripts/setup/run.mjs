import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { inRoot, root } from './paths.mjs';
import { Problem } from './problem.mjs';

export const logFile = inRoot('.cache', 'setup.log');

/**
 * Runs a command in the root; its output goes to the log, and lines that start with two spaces also to the terminal (progress of our own scripts).
 * @throws {Problem} with the end of the output when it fails
 */
export async function run(command, args, { env = {}, remedy = '' } = {}) {
  mkdirSync(dirname(logFile), { recursive: true });
  appendFileSync(logFile, `\n$ ${command} ${args.join(' ')}\n`);
  const child = spawn(command, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let tail = '';
  const take = (chunk) => {
    appendFileSync(logFile, chunk);
    const text = chunk.toString();
    tail = (tail + text).slice(-3000);
    for (const line of text.split('\n')) if (line.startsWith('  exported ')) console.log(line);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  }).catch((error) => {
    throw new Problem(`cannot run ${command}: ${error.message}`);
  });
  if (code === 0) return;
  if (readFileSync(logFile, 'utf8').slice(-20_000).includes('ENOSPC') || tail.includes('No space left on device')) {
    throw new Problem(`the disk is full: free some space (4 GB are needed in all) and run the same command again.`);
  }
  throw new Problem(
    `${command} ${args[0] ?? ''} failed (exit code ${code}).${remedy && ` ${remedy}`}\n\n${tail.trim()}\n\nWhole output: ${logFile}`,
  );
}
