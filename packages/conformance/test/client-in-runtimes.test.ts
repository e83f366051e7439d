/** The client's HTTP part in Deno and Bun, with real models. They come with the packages of the workspace, for x64 Linux with glibc. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const EXAMPLES = fileURLToPath(new URL('../../../examples/model_repository', import.meta.url));
const DECOUPLED = fileURLToPath(new URL('../repositories/decoupled', import.meta.url));
const CHECKS = fileURLToPath(new URL('../src/runtime-script.ts', import.meta.url));

/** Nothing but the network is allowed where permissions are known. */
const RUNTIMES = [
  {
    runtime: 'Deno',
    name: '@deno/linux-x64-glibc',
    program: 'deno',
    variable: 'NEREID_DENO',
    args: ['run', '--allow-net', '--no-prompt'],
  },
  { runtime: 'Bun', name: '@oven/bun-linux-x64-baseline', program: 'bin/bun', variable: 'NEREID_BUN', args: ['run'] },
] as const;

const work = mkdtempSync(join(tmpdir(), 'nereid-runtimes-'));
const bundle = join(work, 'checks.mjs');
let server: NereidProcess;

beforeAll(async () => {
  server = await startNereid([EXAMPLES, DECOUPLED], ['--allow-grpc=false', '--allow-metrics=false']);
  await build({
    entryPoints: [CHECKS],
    outfile: bundle,
    define: { SERVER: JSON.stringify(server.url) },
    platform: 'browser',
    target: 'es2022',
    format: 'esm',
    bundle: true,
    conditions: ['@nereid/source'],
    logLevel: 'silent',
  });
}, 120_000);
afterAll(async () => {
  await server?.stop();
  rmSync(work, { recursive: true });
});

/** @throws {Error} that says what to do where there is no such program */
function programOf({ runtime, name, program, variable }: (typeof RUNTIMES)[number]): string {
  const given = process.env[variable];
  if (given !== undefined) return given;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), program);
  } catch (error) {
    throw new Error(`${name} is not for this system: name a ${runtime} in ${variable}`, { cause: error });
  }
}

test.each(RUNTIMES)('infers, streams and fails as it should in $runtime', { timeout: 60_000 }, async (it) => {
  const { stdout } = await promisify(execFile)(programOf(it), [...it.args, bundle], { cwd: work });
  const { binary, json, ...seen } = JSON.parse(stdout);
  expect(seen).toEqual({
    shouted: ['AHOJ', '€URO'],
    lengths: ['4', '6'],
    events: [7, 8, 9],
    reasons: ['timeout', 'cancelled', 'refused', 'connection'],
  });
  expect(binary).toHaveLength(10);
  expect(json).toEqual(binary);
});
