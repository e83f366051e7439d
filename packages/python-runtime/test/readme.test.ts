import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runReadmeExample, usePython } from '@nereid/testing';
import { expect, it, onTestFinished, vi } from 'vitest';

/** The only test in which torch.compile really compiles, as it does unless a configuration says otherwise. */
it('the example of the README computes', async () => {
  const project = mkdtempSync(join(tmpdir(), 'nereid-readme-'));
  const version = join(project, 'models', 'double', '1');
  mkdirSync(version, { recursive: true });
  writeFileSync(join(version, 'model.py'), pythonExample());
  const before = process.cwd();
  process.chdir(project);
  vi.stubEnv('NEREID_PYTHON', usePython());
  onTestFinished(() => {
    process.chdir(before);
    vi.unstubAllEnvs();
    rmSync(project, { recursive: true });
  });
  const { printed } = await runReadmeExample(import.meta.url);
  expect(printed).toEqual(['y Float32Array(2) [ 2, 4 ]']);
});

function pythonExample(): string {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  return /^```py\n(.*?)^```$/ms.exec(readme)?.[1] ?? '';
}
