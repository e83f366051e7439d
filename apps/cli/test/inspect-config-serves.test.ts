import { basename } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Directory, nereid, onDisk, type Tree } from './nereid.ts';
import { inspectArguments, PACKAGES } from './packages.ts';
import { startQuietly } from './server.ts';

let repository: Directory;
let server: Awaited<ReturnType<typeof startQuietly>>;

/** Every package in a model directory of its own, beside the configuration that is written for it. */
async function configured(): Promise<Directory> {
  const tree: Record<string, Tree[string]> = {};
  for (const each of PACKAGES) {
    tree[`${each.name}/1/${basename(each.file)}`] = { copyOf: each.file };
    tree[`${each.name}/config.pbtxt`] = (await nereid(['inspect', '--config', ...inspectArguments(each)])).stdout;
  }
  return onDisk(tree);
}

beforeAll(async () => {
  repository = await configured();
  server = await startQuietly([repository.path]);
}, 120_000);

afterAll(async () => {
  await server.stop();
  repository[Symbol.dispose]();
});

describe('a package with the configuration that inspect writes', () => {
  it.each(PACKAGES)('is served as it is, and answers random inputs: $name', async ({ name }) => {
    expect(server.models().find((row) => row.name === name)).toMatchObject({ state: 'READY' });
    const { code, stdout, stderr } = await nereid(['infer', name, '--random', '--url', server.url]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^(?:OUTPUT__0|RESULT)/m);
  });
});
