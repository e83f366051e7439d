import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { usePython } from '@nereid/testing';

/** Path of a script of the Python client. */
export function clientScript(name: string): string {
  return fileURLToPath(new URL(`../python/${name}`, import.meta.url));
}

/** How one check ended. */
export interface CheckLine {
  readonly name: string;
  /** Traceback; absent when the check held. */
  readonly error?: string;
}

/**
 * Runs a script that prints one line of JSON for each check. One run for all checks: starting Python takes longer than they do.
 * @param more  arguments after host and port
 * @returns the lines by name
 */
export async function runChecks(
  name: string,
  url: string,
  ...more: readonly string[]
): Promise<ReadonlyMap<string, CheckLine>> {
  const printed = await runClient(name, [new URL(url).host, ...more]);
  const lines = printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as CheckLine);
  return new Map(lines.map((line) => [line.name, line]));
}

/**
 * Runs a script of the Python client to its end.
 * @returns what it printed
 * @throws {Error} with its complaints when it fails
 */
export async function runClient(name: string, args: readonly string[]): Promise<string> {
  const child = spawn(usePython(), [clientScript(name), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  let complaints = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${name} ended with exit code ${code}:\n${complaints}`);
  return printed;
}
