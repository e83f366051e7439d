/** The original's load tool, as the set-up brings it, and what it reports. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testLibrary, usePerfAnalyzer } from '@nereid/testing';

/** One level of load (a concurrency, a rate) of a report. */
interface LoadLevel {
  /** Lines by what stands before the colon, e.g. `Request count`; figures with their units. */
  readonly client: ReadonlyMap<string, string>;
  readonly server: ReadonlyMap<string, string>;
}

/** How a run ended. */
export interface LoadReport {
  readonly exitCode: number | null;
  /** Everything printed, both streams. */
  readonly text: string;
  readonly levels: readonly LoadLevel[];
}

/**
 * Runs perf_analyzer to its end.
 * @throws {Error} when it was not set up; the message holds the command
 */
export async function runPerfAnalyzer(args: readonly string[]): Promise<LoadReport> {
  const home = usePerfAnalyzer();
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: join(home, 'nvidia', 'cuda_runtime', 'lib'),
    LD_PRELOAD: await testLibrary('b64', ['-Wl,-soname,libb64.so.0d']),
  };
  const child = spawn(join(home, 'bin', 'perf_analyzer'), args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const take = (chunk: Buffer) => {
    text += chunk.toString();
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, text, levels: levelsOf(text) };
}

/** The levels of a report: each begins with the client's figures. */
function levelsOf(text: string): readonly LoadLevel[] {
  const parts = text.split(/^(?= {2}Client: *$)/m).slice(1);
  return parts.map((part) => ({ client: figuresOf(part, 'Client'), server: figuresOf(part, 'Server') }));
}

/** `Client:` and `Server:` stand two columns in, the figures of each four. */
function figuresOf(part: string, side: string): ReadonlyMap<string, string> {
  const block = new RegExp(`^  ${side}: *\n((?:    .*\n)*)`, 'm').exec(part)?.[1] ?? '';
  return new Map(Array.from(block.matchAll(/^ {4}([^:\n]+): (.*)$/gm), ([, name = '', figure = '']) => [name, figure]));
}

/** Rows of its CSV, cells by the names of their columns, which are in the order of the file. */
export function csvRows(path: string): readonly ReadonlyMap<string, string>[] {
  const [header = '', ...rows] = readFileSync(path, 'utf8').trim().split('\n');
  const columns = header.split(',');
  return rows.map((row) => {
    const cells = row.split(',');
    return new Map(columns.map((column, i) => [column, cells[i] ?? '']));
  });
}
