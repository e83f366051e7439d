/** In a process of its own: memory that is corrupted ends it. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { CPU, compiled } from './support.ts';

const LOADER = fileURLToPath(new URL('../loader.js', import.meta.url));
/** Packages that are opened at a time. */
const AT_ONCE = 4;
const ROUNDS = 60;

test('packages that are opened and closed at the same time do each other no harm', { timeout: 120_000 }, async () => {
  const program = `
    import { loadAoti } from ${JSON.stringify(LOADER)};
    for (let round = 0; round < ${ROUNDS}; round++) {
      const opened = Array.from({ length: ${AT_ONCE} }, () =>
        loadAoti({ path: ${JSON.stringify(compiled('mlp'))}, modelName: 'model', device: ${CPU}, numRunners: 1 }));
      await Promise.all(opened.map(async (model) => (await model).close()));
    }
    console.log('done');
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  expect(stdout).toBe('done\n');
});
