/** How a process starts, drains and ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testModel } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gate } from '../src/gated-model.ts';
import { GrpcReplayer, GrpcStream } from '../src/grpc-recording.ts';
import { modelMetrics } from '../src/model-metrics.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const NEREID = fileURLToPath(new URL('../../../apps/cli/bin/nereid.js', import.meta.url));
const DECOUPLED = fileURLToPath(new URL('../repositories/decoupled/repeat', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'nereid-start-stop-'));
const good = join(folder, 'good');
const mixed = join(folder, 'mixed');
const streaming = join(folder, 'streaming');
const slowToLoad = join(folder, 'slow-to-load');

/** Keeps its thread busy for about as many milliseconds as its input says. */
const SLOW = `backend: "pytorch"
platform: "pytorch_libtorch"
input [ { name: "x" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 1 ] } ]
parameters { key: "INTRA_OP_THREAD_COUNT" value { string_value: "1" } }
`;
const LONG_WARMUP = `model_warmup [ { name: "long" batch_size: 1 inputs { key: "x" value { data_type: TYPE_FP32 dims: [ 1 ] input_data_file: "ms" } } } ]\n`;
const AN_HOUR = 3_600_000;

function writeSlow(repository: string, more = ''): string {
  const model = join(repository, 'slow');
  mkdirSync(join(model, '1'), { recursive: true });
  cpSync(join(testModel('native_torchscript'), 'slow.pt'), join(model, '1', 'model.pt'));
  writeFileSync(join(model, 'config.pbtxt'), SLOW + more);
  return model;
}

beforeAll(() => {
  writeSlow(good);
  writeSlow(mixed);
  cpSync(DECOUPLED, join(streaming, 'repeat'), { recursive: true });
  mkdirSync(join(mixed, 'broken', '1'), { recursive: true });
  writeFileSync(join(mixed, 'broken', 'config.pbtxt'), 'nonsense: 1\n');
  mkdirSync(join(writeSlow(slowToLoad, LONG_WARMUP), 'warmup'), { recursive: true });
  writeFileSync(join(slowToLoad, 'slow', 'warmup', 'ms'), new Uint8Array(new Float32Array([AN_HOUR]).buffer));
});
afterAll(() => rmSync(folder, { recursive: true }));

const infer = (url: string, milliseconds: number) =>
  fetch(`${url}/v2/models/slow/infer`, {
    method: 'POST',
    body: JSON.stringify({ inputs: [{ name: 'x', datatype: 'FP32', shape: [1], data: [milliseconds] }] }),
  });

/** Sends three requests that run that long each; resolves when one runs, one is next, and one waits. */
async function underWay(server: NereidProcess, milliseconds: number): Promise<{ readonly answers: Promise<number[]> }> {
  const requests = Array.from({ length: 3 }, () => infer(server.url, milliseconds));
  const answers = Promise.all(
    requests.map((request) =>
      request.then(
        ({ status }) => status,
        () => 0,
      ),
    ),
  );
  await expect.poll(() => pendingRequests(server), { timeout: 10_000 }).toBe(1);
  return { answers };
}

async function pendingRequests({ metricsPlace }: NereidProcess): Promise<number> {
  const text = await (await fetch(`http://${metricsPlace}/metrics`)).text();
  return Number(/^nv_inference_pending_request_count\{model="slow",version="1"\} (\d+)$/m.exec(text)?.[1]);
}

interface Exit {
  readonly code: number | null;
  readonly output: string;
}

/** Runs `nereid serve` to its end. `until` is told of all that was printed so far, each time. */
async function run(
  args: readonly string[],
  until: (printed: string, child: ChildProcess) => void = () => {},
): Promise<Exit> {
  const child = spawn(process.execPath, [NEREID, 'serve', '--http-port=0', '--log-format=default', ...args]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      until(output, child);
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

async function exitCode({ process: child }: NereidProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

describe('while a process drains', () => {
  test('it answers what it took, is not ready, and refuses more, over both protocols', async () => {
    await using server = await startNereid([good]);
    using grpc = new GrpcReplayer(server.grpcPlace);
    const ask = (rpc: string, request: object = {}) => grpc.send({ name: rpc, rpc, request, answer: { code: 'OK' } });
    expect(await ask('ServerReady')).toMatchObject({ response: { ready: true } });
    const { answers } = await underWay(server, 500);
    server.process.kill('SIGTERM');
    await expect.poll(async () => (await fetch(`${server.url}/v2/health/ready`)).status).toBe(400);
    // A field at its default is left out: not ready.
    expect(await ask('ServerReady')).toEqual({ code: 'OK', response: {} });
    expect((await infer(server.url, 1)).status).toBe(503);
    const refused = await ask('ModelInfer', {
      model_name: 'slow',
      inputs: [{ name: 'x', datatype: 'FP32', shape: [1], contents: { fp32_contents: [1] } }],
    });
    expect(refused.code).toBe('UNAVAILABLE');
    expect(await answers).toEqual([200, 200, 200]);
    expect(await exitCode(server)).toBe(0);
  });

  test('open streams get their answers, refuse more, and metrics are told to the end', async () => {
    const gate = new Gate(streaming, { name: 'held' });
    gate.close();
    await using server = await startNereid([streaming]);
    const held = new GrpcStream(server.grpcPlace);
    const tensor = { name: 'x', datatype: 'FP32', shape: [1, 1], contents: { fp32_contents: [7] } };
    held.write({ model_name: 'held', id: 'before', inputs: [tensor] });
    const events = await fetch(`${server.url}/v2/models/repeat/generate_stream`, {
      method: 'POST',
      body: JSON.stringify({ IN: Array(40).fill(3), DELAY: 25 }),
    });
    const metrics = () => modelMetrics(server, 'held');
    await expect.poll(metrics, { timeout: 10_000 }).toMatchObject({ executing_request_count: 1 });
    server.process.kill('SIGTERM');
    await expect.poll(async () => (await fetch(`${server.url}/v2/health/ready`)).status).toBe(400);
    // Whoever reads what it prints may have gone.
    server.process.kill('SIGPIPE');
    held.write({ model_name: 'held', id: 'after', inputs: [tensor] });
    held.end();
    expect((await fetch(`${server.url}/v2/models/held`)).status).toBe(503);
    expect(await metrics()).toMatchObject({ executing_request_count: 1, request_success: 0 });
    gate.open();
    const [before, after] = await held.answers;
    expect(before).toMatchObject({ infer_response: { id: 'before' } });
    expect(after).toMatchObject({ error_message: expect.stringContaining('Server exiting') });
    expect((await events.text()).match(/"OUT":3/g)).toHaveLength(40);
    expect(await exitCode(server)).toBe(0);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('a second %s ends it at once, with %i', async (signal, code) => {
    await using server = await startNereid([good]);
    await underWay(server, AN_HOUR);
    server.process.kill(signal);
    await expect.poll(() => server.output()).toContain('received.');
    server.process.kill(signal);
    expect(await exitCode(server)).toBe(code);
  });

  test('it ends with 1 when the exit timeout has passed, whatever still runs', async () => {
    await using server = await startNereid([good], ['--exit-timeout-secs=1']);
    const { answers } = await underWay(server, AN_HOUR);
    server.process.kill('SIGTERM');
    expect(await exitCode(server)).toBe(1);
    expect(server.output()).toContain('Exit timeout expired. Exiting immediately.');
    expect(await answers).toEqual([0, 0, 0]);
  });
});

describe('a process that is told to stop while models load', () => {
  const termWhileLoading = (printed: string, child: ChildProcess) => {
    if (printed.includes('loading: ') && !printed.includes('received.')) child.kill('SIGTERM');
  };

  test('ends with 0 once what was loading is unloaded again', async () => {
    const { code, output } = await run(['--model-repository', good], termWhileLoading);
    expect(code, output).toBe(0);
    expect(output).toContain('stopped before every model was loaded');
    expect(output).not.toContain('Started HTTPService');
  });

  test('waits for the load no longer than the exit timeout', async () => {
    const { code, output } = await run(['--model-repository', slowToLoad, '--exit-timeout-secs=1'], termWhileLoading);
    expect(code, output).toBe(1);
    expect(output).toContain('Exit timeout expired. Exiting immediately.');
    expect(output).not.toContain('Started HTTPService');
  });
});

test.each<[args: readonly string[], code: number, message: string]>([
  [['--model-repository', mixed, '--exit-on-error=true'], 1, 'failed to load all models'],
  [['--model-repository', join(folder, 'nosuch')], 1, 'nosuch'],
  [['--model-repository', good, '--grpc-use-ssl=true', '--grpc-server-cert=gone', '--grpc-server-key=gone'], 1, 'gone'],
  [['--http-port=70000'], 2, "option '--http-port' takes a whole number"],
  [[], 2, '--model-repository must be specified'],
])('%j ends with %i', async (args, code, message) => {
  const ended = await run(args);
  expect(ended.code, ended.output).toBe(code);
  expect(ended.output).toContain(message);
});
