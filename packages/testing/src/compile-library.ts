import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from './workspace.ts';

const run = promisify(execFile);

export interface CompileOptions {
  /** For the compiler, after those for a shared library. */
  readonly flags?: readonly string[];
  /** Directory of headers that the source includes. */
  readonly headers?: string;
}

/**
 * Compiles C++ to a shared library with the compiler of the machine, once for each source, header and compiler call.
 * @returns absolute path below `.cache/libraries` of this repository
 */
export async function compileLibrary(source: string, { flags = [], headers }: CompileOptions = {}): Promise<string> {
  const allFlags = ['-std=c++20', '-shared', '-fPIC', ...(headers === undefined ? [] : [`-I${headers}`]), ...flags];
  const hash = createHash('sha256')
    .update(JSON.stringify([source, allFlags, headers === undefined ? [] : headerTexts(headers)]))
    .digest('hex')
    .slice(0, 16);
  const cache = join(repositoryRoot(), '.cache', 'libraries');
  const library = join(cache, `${hash}.so`);
  if (existsSync(library)) return library;
  await mkdir(cache, { recursive: true });
  // Finished under a name of its own: the same source may be compiled twice at a time.
  const mine = join(cache, `${hash}.${randomUUID()}`);
  await writeFile(`${mine}.cc`, source);
  await run('c++', [`${mine}.cc`, '-o', `${mine}.so`, ...allFlags]);
  await rename(`${mine}.so`, library);
  return library;
}

/**
 * Compiles a library of `packages/testing/libraries`.
 * @param name  of the file, without `.cc`
 * @param flags  for the compiler, e.g. `-DFAILS_TO_INITIALIZE`
 * @returns its absolute path
 */
export function testLibrary(name: string, flags: readonly string[] = []): Promise<string> {
  const headers = join(repositoryRoot(), 'packages', 'testing', 'libraries');
  const source = readFileSync(join(headers, `${name}.cc`), 'utf8');
  return compileLibrary(source, { headers, flags });
}

function headerTexts(directory: string): readonly string[] {
  const names = readdirSync(directory).filter((name) => name.endsWith('.h'));
  return names.sort().map((name) => readFileSync(join(directory, name), 'utf8'));
}
