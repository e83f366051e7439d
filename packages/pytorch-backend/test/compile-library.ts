import { join } from 'node:path';
import { findLibtorch } from '@nereid/native/find-libtorch';
import { compileLibrary as compile } from '@nereid/testing';

/**
 * Compiles C++ to a shared library, once for each source, compiler call and torch.
 * @param options.torch  with LibTorch's headers, which takes most of a minute
 * @returns its absolute path
 */
export function compileLibrary(source: string, options: { readonly torch?: boolean } = {}): Promise<string> {
  return compile(source, { flags: options.torch ? torchFlags() : [] });
}

function torchFlags(): readonly string[] {
  const { found } = findLibtorch();
  if (found === undefined) throw new Error('LibTorch was not found; run: npm run setup');
  const headers = ['include', 'include/torch/csrc/api/include'].map((name) => `-isystem${join(found.directory, name)}`);
  return [...headers, `-L${join(found.directory, 'lib')}`, '-ltorch_cpu', '-lc10'];
}
