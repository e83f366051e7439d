import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testModel } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startNereid } from '../src/nereid-process.ts';

const repository = mkdtempSync(join(tmpdir(), 'nereid-life-'));

/** Keeps its thread busy for about as many milliseconds as its input says. */
const SLOW = `backend: "pytorch"
platform: "pytorch_libtorch"
input [ { name: "x" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 1 ] } ]
parameters { key: "INTRA_OP_THREAD_COUNT" value { string_value: "1" } }
`;

beforeAll(() => {
  mkdirSync(join(repository, 'slow', '1'), { recursive: true });
  cpSync(join(testModel('native_torchscript'), 'slow.pt'), join(repository, 'slow', '1', 'model.pt'));
  writeFileSync(join(repository, 'slow', 'config.pbtxt'), SLOW);
});
afterAll(() => rmSync(repository, { recursive: true }));

const body = JSON.stringify({ inputs: [{ name: 'x', datatype: 'FP32', shape: [1], data: [200] }] });
const infer = (url: string) => fetch(`${url}/v2/models/slow/infer`, { method: 'POST', body });

describe('SIGTERM', () => {
  test('lets requests in flight finish, then ends the process with 0', async () => {
    await using server = await startNereid([repository]);
    const answers = Array.from({ length: 6 }, () => infer(server.url));
    await expect.poll(() => statistics(server.url), { timeout: 10_000 }).toBeGreaterThanOrEqual(1);
    server.process.kill('SIGTERM');
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
    const [code] = server.process.exitCode === null ? await once(server.process, 'exit') : [server.process.exitCode];
    expect(code).toBe(0);
  });

  test('gives up on requests after the exit timeout and ends the process with 1', async () => {
    await using server = await startNereid([repository], ['--exit-timeout-secs=0']);
    const answers = Array.from({ length: 20 }, () => infer(server.url).catch((error: unknown) => error));
    await expect.poll(() => statistics(server.url), { timeout: 10_000 }).toBeGreaterThanOrEqual(1);
    server.process.kill('SIGTERM');
    const [code] = server.process.exitCode === null ? await once(server.process, 'exit') : [server.process.exitCode];
    expect(code).toBe(1);
    await Promise.all(answers);
  });
});

test('the event loop stays free while a model runs', async () => {
  await using server = await startNereid([repository]);
  const slow = Promise.all([infer(server.url), infer(server.url)]);
  const delays: number[] = [];
  let running = true;
  void slow.then(() => {
    running = false;
  });
  while (running) {
    const start = performance.now();
    await fetch(`${server.url}/v2/health/live`);
    delays.push(performance.now() - start);
  }
  expect(delays.length).toBeGreaterThan(10);
  // A blocked loop would show as one answer that takes as long as the model.
  delays.sort((a, b) => a - b);
  expect(delays[Math.floor(delays.length * 0.9)]).toBeLessThan(100);
});

async function statistics(url: string): Promise<number> {
  const answer = (await (await fetch(`${url}/v2/models/slow/stats`)).json()) as {
    model_stats: { execution_count: number }[];
  };
  return answer.model_stats[0]?.execution_count ?? 0;
}
