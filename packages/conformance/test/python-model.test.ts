import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const REPOSITORY = fileURLToPath(new URL('../../../examples/model-py/model_repository', import.meta.url));

let server: NereidProcess;
beforeAll(async () => {
  server = await startNereid([REPOSITORY]);
}, 90_000);
afterAll(() => server?.stop());

const infer = async (data: readonly number[]) => {
  const body = JSON.stringify({ inputs: [{ name: 'values', datatype: 'FP32', shape: [1, 4], data }] });
  const response = await fetch(`${server.url}/v2/models/doubler/infer`, { method: 'POST', body });
  return {
    status: response.status,
    answer: (await response.json()) as { outputs?: { data: number[] }[]; error?: string },
  };
};

test('a model of Python source answers over HTTP', async () => {
  const { answer } = await infer([1, 2, 3, 4]);
  expect(answer.outputs?.[0]?.data).toEqual([2, 4, 6, 8]);
});

test('its configuration leaves the name of the model file open', async () => {
  const config = await (await fetch(`${server.url}/v2/models/doubler/config`)).json();
  expect(config).toMatchObject({ runtime: 'model.py', default_model_filename: '' });
});

test('it is started again after its process was killed', async () => {
  const { pid } = server.process;
  const children = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(pid)], { encoding: 'utf8' });
  const python = children.split('\n').find((line) => line.includes('runtime.py'));
  process.kill(Number.parseInt(python ?? '', 10), 'SIGKILL');
  await expect
    .poll(async () => (await infer([5, 6, 7, 8])).answer.outputs?.[0]?.data, { timeout: 60_000, interval: 200 })
    .toEqual([10, 12, 14, 16]);
}, 70_000);

test('the server ends with it', async () => {
  expect(await server.stop()).toBe(0);
});
