/** What happens to loads and unloads where the system has no thread left for them. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { testLibrary } from '@nereid/testing';
import { expect, test } from 'vitest';
import { scripted } from './support.ts';

test('they wait for the threads of others, or do without one, and none is lost', async () => {
  const program = `
    import { loadTorchScript } from ${JSON.stringify(new URL('../loader.js', import.meta.url).href)};
    const options = { path: ${JSON.stringify(scripted('double'))}, inferenceMode: true, device: -1 };
    for (let round = 0; round < 4; round++) {
      const models = await Promise.all(Array.from({ length: 20 }, () => loadTorchScript(options)));
      await Promise.all(models.map((model) => model.close()));
    }
    console.log('done');
  `;
  const env = { ...process.env, LD_PRELOAD: await testLibrary('few_threads', ['-ldl']) };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { env });
  expect(stdout).toBe('done\n');
});
