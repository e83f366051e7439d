/** How a process ends in which models still run or load: LibTorch's statics outlive every thread that uses them. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testLibrary } from '@nereid/testing';
import { afterAll, expect, test } from 'vitest';
import { scripted } from './support.ts';

const LOADER = JSON.stringify(new URL('../loader.js', import.meta.url).href);
const AN_HOUR = 3_600_000;

/** Whoever opens it to read waits for a writer, who never comes. */
const folder = mkdtempSync(join(tmpdir(), 'nereid-exit-'));
const endless = join(folder, 'model.pt');
execFileSync('mkfifo', [endless]);
afterAll(() => rmSync(folder, { recursive: true }));

const LOAD = `
  import { loadTorchScript } from ${LOADER};
  process.on('exit', () => { process.exitCode = 7; });
  const load = (path) => loadTorchScript({ path, inferenceMode: true, device: -1 });
`;

const RUN = `
  ${LOAD}
  const model = await load(${JSON.stringify(scripted('slow'))});
  const instance = model.createInstance({
    name: 'slow', intraOpThreads: 1, inferenceMode: true, optimizedExecution: true, batching: false,
    inputs: [{ datatype: 11, key: '' }], outputs: [{ index: 0, key: '' }], onComplete() {},
  });
  const run = (ms) => instance.execute({ buffers: [new Uint8Array(new Float32Array([ms]).buffer)], rows: [1], shapes: [1, 1] });
`;

/** Its exit code or signal. 99: the destructors of statics have run. */
async function end(program: string): Promise<number | string> {
  const env = { ...process.env, LD_PRELOAD: await testLibrary('late_exit') };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { env, stdio: 'ignore' });
  const [code, signal] = (await once(child, 'exit')) as [number, null] | [null, string];
  return code ?? signal;
}

test.each([
  ['a call, while a batch runs', `${RUN} run(${AN_HOUR}); setTimeout(() => process.exit(), 50);`],
  ['an exception, while a batch runs', `${RUN} run(${AN_HOUR}); setTimeout(() => { throw new Error(); }, 50);`],
  ['a call, while a model loads', `${LOAD} load(${JSON.stringify(endless)}); setTimeout(() => process.exit(), 50);`],
])('ended by %s', async (_, program) => {
  expect(await end(program)).toBe(7);
});

test('ended by itself, with all closed', async () => {
  expect(await end(`${RUN} run(1); await instance.close(); await model.close();`)).toBe(99);
});
