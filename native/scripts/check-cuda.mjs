#!/usr/bin/env node
/**
 * Compiles the CUDA half of `src/runtime/device.cc`, the only file that has one, as far as its syntax: against torch's headers, which are in every
 * build of it, and those of the CUDA runtime. Nothing is linked or run, and no GPU is needed.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../lib/paths.js';
import { requireLibtorch } from './build/libtorch.mjs';
import { Problem } from './build/problem.mjs';
import { run } from './build/run.mjs';

const USAGE = `usage: node native/scripts/check-cuda.mjs [--libtorch DIR] [--cuda DIR]

  --libtorch DIR  as for build.mjs
  --cuda DIR      where the include folder of a CUDA toolkit is. Default: CUDA_HOME, else /usr/local/cuda
`;

const RUNTIME_HEADER = 'cuda_runtime_api.h';

async function checkCuda({ libtorch: place, cuda }) {
  const { directory, version } = requireLibtorch(place);
  const headers = cudaHeaders(cuda);
  const generated = mkdtempSync(join(tmpdir(), 'nereid-cuda-'));
  try {
    const includes = ['include', 'include/torch/csrc/api/include'].map((name) => join(directory, name));
    const all = [...includes, headers, ...generatedHeaders(includes[0], generated)];
    const args = ['-std=c++20', '-fsyntax-only', '-Wall', '-Wextra', '-DNEREID_CUDA', `-I${join(packageRoot, 'src')}`];
    const source = join(packageRoot, 'src', 'runtime', 'device.cc');
    await run({ command: process.env.CXX ?? 'c++', args: [...args, ...all.map((path) => `-isystem${path}`), source] });
    console.log(`device.cc compiles for CUDA, with torch ${version} and the headers in ${headers}; it was not run`);
  } finally {
    rmSync(generated, { recursive: true });
  }
}

/** @throws {Problem} with the places that were looked at */
function cudaHeaders(given) {
  const places = given === undefined ? [process.env.CUDA_HOME, '/usr/local/cuda'].filter(Boolean) : [given];
  const found = places.map((place) => join(place, 'include')).find((place) => existsSync(join(place, RUNTIME_HEADER)));
  if (found !== undefined) return found;
  throw new Problem(
    `No CUDA toolkit with include/${RUNTIME_HEADER} was found in ${places.join(', ')}: install one, or name its directory with --cuda.`,
  );
}

/** The one header that only a CUDA build of torch has: it says how libc10_cuda is linked. */
function generatedHeaders(include, directory) {
  const name = join('c10', 'cuda', 'impl', 'cuda_cmake_macros.h');
  if (existsSync(join(include, name))) return [];
  mkdirSync(dirname(join(directory, name)), { recursive: true });
  writeFileSync(join(directory, name), '#pragma once\n#define C10_CUDA_BUILD_SHARED_LIBS\n');
  return [directory];
}

async function main() {
  const options = { libtorch: { type: 'string' }, cuda: { type: 'string' }, help: { type: 'boolean', short: 'h' } };
  const { values } = parseArgs({ options });
  if (values.help) console.log(USAGE);
  else await checkCuda(values);
}

main().catch((error) => {
  if (!(error instanceof Problem) && error.code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw error;
  console.error(error.message);
  process.exitCode = 1;
});
