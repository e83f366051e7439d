import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findLibtorch } from '@nereid/native/find-libtorch';

const run = promisify(execFile);
const CACHE = fileURLToPath(new URL('../../../.cache/libraries/', import.meta.url));

/**
 * Compiles C++ to a shared library, once for each source, compiler call and torch.
 * @param options.torch  with LibTorch's headers, which takes most of a minute
 * @returns its absolute path
 */
export async function compileLibrary(source: string, options: { readonly torch?: boolean } = {}): Promise<string> {
  const flags = ['-std=c++20', '-shared', '-fPIC', ...(options.torch ? torchFlags() : [])];
  const hash = createHash('sha256')
    .update(JSON.stringify([source, flags]))
    .digest('hex')
    .slice(0, 16);
  const library = join(CACHE, `${hash}.so`);
  if (existsSync(library)) return library;
  await mkdir(dirname(library), { recursive: true });
  // Finished under a name of its own: two test files may compile the same source at a time.
  const mine = join(CACHE, `${hash}.${process.pid}`);
  await writeFile(`${mine}.cc`, source);
  await run('c++', [`${mine}.cc`, '-o', `${mine}.so`, ...flags]);
  await rename(`${mine}.so`, library);
  return library;
}

function torchFlags(): readonly string[] {
  const { found } = findLibtorch();
  if (found === undefined) throw new Error('LibTorch was not found; run: npm run setup');
  const headers = ['include', 'include/torch/csrc/api/include'].map((name) => `-isystem${join(found.directory, name)}`);
  return [...headers, `-L${join(found.directory, 'lib')}`, '-ltorch_cpu', '-lc10'];
}
