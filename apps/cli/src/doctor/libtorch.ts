/** LibTorch and the addon that is built against it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeSearch, type FoundLibtorch, findLibtorch, TORCH_RELEASE } from '@nereid/native/find-libtorch';
import type { Finding } from './finding.ts';

const INSTALL = `install PyTorch: python3 -m venv .venv && .venv/bin/pip install "torch==${TORCH_RELEASE}.*"; or set NEREID_LIBTORCH to where LibTorch is`;

export interface LibtorchSearchOptions {
  /** Looks only here. */
  readonly directory?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What was found and rejected, and what is found of version, ABI and CUDA in it. */
export function checkLibtorch({ directory, env }: LibtorchSearchOptions): readonly Finding[] {
  const search = findLibtorch({ env, ...(directory !== undefined && { directory }) });
  const { found, rejected } = search;
  const details = describeSearch({ found: undefined, rejected });
  if (found === undefined) {
    return [
      { name: 'LibTorch', state: 'problem', found: `none for PyTorch ${TORCH_RELEASE}`, details, remedy: INSTALL },
    ];
  }
  const place = `${found.version} at ${found.directory} (${found.origin})`;
  return [{ name: 'LibTorch', state: 'ok', found: place, details }, checkAbi(found), checkCuda(found)];
}

/** Addon and LibTorch must agree on how the standard library lays out its types. */
function checkAbi({ directory }: FoundLibtorch): Finding {
  const config = join(directory, 'share', 'cmake', 'Torch', 'TorchConfig.cmake');
  const flag = /_GLIBCXX_USE_CXX11_ABI=([01])/.exec(readFileSync(config, 'utf8'))?.[1];
  if (flag === '0') {
    const remedy = 'take a LibTorch with the C++11 ABI: those of PyPI have it since PyTorch 2.6';
    return { name: 'C++ ABI', state: 'problem', found: 'of before C++11', remedy };
  }
  // Since PyTorch 2.7 there is no other, and the flag is gone.
  return { name: 'C++ ABI', state: 'ok', found: 'C++11' };
}

function checkCuda({ directory, version }: FoundLibtorch): Finding {
  const library = { linux: 'libtorch_cuda.so', win32: 'torch_cuda.dll' }[process.platform as string];
  const hasCuda = library !== undefined && existsSync(join(directory, 'lib', library));
  if (hasCuda) return { name: 'CUDA', state: 'ok', found: `LibTorch ${version} has it` };
  const remedy = 'models run on the CPU; for KIND_GPU install a PyTorch for CUDA and build the addon against it';
  return { name: 'CUDA', state: 'note', found: `LibTorch ${version} is for the CPU`, remedy };
}

/** Loads it: whether it can be is not told otherwise. */
export async function checkAddon(): Promise<Finding> {
  try {
    const { buildInfo } = await import('@nereid/native');
    const { torchVersion, cuda, napiVersion } = buildInfo();
    const found = `built against LibTorch ${torchVersion} for ${cuda ? 'CUDA' : 'the CPU'}, Node-API ${napiVersion}`;
    return { name: 'Addon', state: 'ok', found };
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const [found = '', ...details] = message.split('\n');
    const steps = details.slice(details.indexOf('What to do:') + 1).map((line) => line.trim().replace(/^\d+\. /, ''));
    return {
      name: 'Addon',
      state: 'problem',
      found,
      details,
      remedy: steps.at(-1) ?? 'build the addon of @nereid/native',
    };
  }
}
