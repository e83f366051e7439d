import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { testModel } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Directory, nereid, onDisk } from './nereid.ts';
import { startQuietly } from './server.ts';

const CONFIG = `platform: "pytorch_libtorch"
max_batch_size: 8
input [ { name: "a" data_type: TYPE_FP32 dims: [ 3 ] }, { name: "b" data_type: TYPE_FP32 dims: [ 3 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 3 ] }, { name: "OUTPUT__1" data_type: TYPE_FP32 dims: [ 3 ] } ]
`;
/** A batch goes at two rows and at none before, so that what runs together does not depend on the time. */
const BATCHING = 'dynamic_batching { preferred_batch_size: 2 max_queue_delay_microseconds: 600000000 }\n';

let directory: Directory;
let server: Awaited<ReturnType<typeof startQuietly>>;

beforeAll(async () => {
  const file = { copyOf: `${testModel('addsub')}/model.pt` };
  directory = onDisk({
    'batching/config.pbtxt': CONFIG + BATCHING,
    'batching/1/model.pt': file,
    'plain/config.pbtxt': CONFIG,
    'plain/1/model.pt': file,
  });
  server = await startQuietly([directory.path]);
});

afterAll(async () => {
  await server.stop();
  directory[Symbol.dispose]();
});

const stats = (...argv: readonly string[]) => nereid(['stats', '--url', server.url, ...argv]);
const infer = (...argv: readonly string[]) => nereid(['infer', '--url', server.url, '--random', ...argv]);

/** Without what the machine decides. */
const stable = (text: string) => text.replace(/[\d.]+ ms/g, 'N ms');

describe('nereid stats', () => {
  it('tells that there was nothing to tell', async () => {
    expect((await stats()).stdout).toBe('batching version 1: no requests yet\n\nplain version 1: no requests yet\n');
  });

  it('shows requests, times, batch sizes and why batches were closed', async () => {
    await Promise.all([infer('batching'), infer('batching')]);
    const { stdout } = await infer('batching', '--batch', '4', '--show-batch');
    expect(stdout).toContain('nereid_batch_id = 2\nnereid_batch_size = 4\nnereid_batch_requests = 1\n');
    expect(stdout).toContain('nereid_batch_reason = full\nnereid_batch_instance = batching_0');
    const { code, stderr, ...shown } = await stats('batching');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stable(shown.stdout)).toMatchInlineSnapshot(`
      "batching version 1: 3 requests answered, 6 rows in 2 executions
        a request took N ms on average: N ms in the queue, N ms for inputs, N ms running, N ms for outputs
        batch size  executions  share  running
        2           1           50 %   N ms
        4           1           50 %   N ms
        closed for      batches  share  that is
        preferred-size  1        50 %   a preferred size was reached
        full            1        50 %   the largest size was reached, or the next request would have exceeded it
      "
    `);
  });

  it('shows executions of a model whose requests run by themselves, and no reasons', async () => {
    await infer('plain', '--batch', '3');
    const { stdout } = await stats('plain', '--model-version', '1');
    expect(stable(stdout)).toMatchInlineSnapshot(`
      "plain version 1: 1 request answered, 3 rows in 1 execution
        a request took N ms on average: N ms in the queue, N ms for inputs, N ms running, N ms for outputs
        batch size  executions  share  running
        3           1           100 %  N ms
      "
    `);
    expect((await infer('plain', '--show-batch')).stdout).not.toContain('nereid_batch');
  });

  it('prints what the server said as JSON', async () => {
    const [entry] = JSON.parse((await stats('batching', '--json')).stdout).model_stats;
    expect(entry.batching).toMatchObject({
      batch_sizes: [
        { batch_size: 2, count: 1 },
        { batch_size: 4, count: 1 },
      ],
      closed: { 'preferred-size': 1, full: 1, delay: 0 },
    });
  });

  it.each([
    [['none'], 1, "nereid: the server answered 400: Request for unknown model: 'none' is not found"],
    [['--model-version', '1'], 2, 'nereid: --model-version needs the name of a model; see nereid stats --help'],
    [['batching', '--model-version', 'x'], 2, 'A version is a whole number; see nereid stats --help'],
  ])('%j fails and says why', async (argv, code, message) => {
    const run = await stats(...argv);
    expect(run).toMatchObject({ code, stdout: '' });
    expect(run.stderr).toContain(message);
  });

  it('does without what another server leaves out, and says when it is none', async () => {
    const answers = [
      '{"model_stats":[{"name":"m","inference_stats":{"success":{"count":2}}}]}',
      '{}',
      '{"model_stats":[]}',
    ];
    const other = createServer((_, response) => response.end(answers.shift())).listen(0, '127.0.0.1');
    const url = await new Promise<string>((resolve) =>
      other.once('listening', () => resolve(`http://127.0.0.1:${(other.address() as AddressInfo).port}`)),
    );
    const runs = [];
    for (let i = 0; i < 3; i++) runs.push(await nereid(['stats', '--url', url]));
    other.close();
    expect(runs.map(({ stdout, stderr }) => stdout + stderr)).toEqual([
      'm version : 2 requests answered, 0 rows in 0 executions\n' +
        '  a request took 0.000 ms on average: 0 ms in the queue, 0 ms for inputs, 0 ms running, 0 ms for outputs\n',
      `nereid: the answer of ${url} is none of the v2 inference protocol: statistics need 'model_stats'; is it a server of that protocol?\n`,
      'the server has no models that are ready\n',
    ]);
  });
});
