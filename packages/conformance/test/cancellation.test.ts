/** Clients that go away, cancel, or run out of time, at every stage of a request and over both protocols: what the scheduler does then, and what is counted. */
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as requestHttp } from 'node:http';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type grpc from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type CheckLine, clientScript, runChecks } from '../src/client-checks.ts';
import { configText } from '../src/config-text.ts';
import { Gate } from '../src/gated-model.ts';
import { openGrpcClient, type UnaryCall } from '../src/grpc-recording.ts';
import { type ModelMetrics, modelMetrics } from '../src/model-metrics.ts';
import { writeModelTree } from '../src/model-tree.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const DECOUPLED = fileURLToPath(new URL('../repositories/decoupled/repeat', import.meta.url));
const SCRIPT = 'tritonclient_cancel_checks.py';
const checks = [...readFileSync(clientScript(SCRIPT), 'utf8').matchAll(/^def (\w+)\(ways\):$/gm)].map(([, name]) =>
  String(name).replaceAll('_', ' '),
);
/** Long enough for a call to get into the queue, however busy the machine is. */
const DEADLINE_MS = 1000;
/** Of a model that cannot be held: longer than the steps of its test. */
const SLOW_MS = 500;
const LARGE_BYTES = 16 * 2 ** 20;
const LARGE_ANSWERS = 10;
const poll = { interval: 5, timeout: 10_000 };

const repository = mkdtempSync(join(tmpdir(), 'nereid-cancel-'));
const gate = new Gate(repository, { name: 'batched', more: 'dynamic_batching { }' });
let server: NereidProcess;
let client: grpc.Client;

beforeAll(async () => {
  cpSync(DECOUPLED, join(repository, 'repeat'), { recursive: true });
  const config = configText({ input: ['x TYPE_UINT8 -1'], output: ['OUTPUT__0 TYPE_UINT8 -1'] });
  const sequences = configText({
    input: ['x TYPE_FP32 1'],
    output: ['OUTPUT__0 TYPE_FP32 1'],
    parameters: { INTRA_OP_THREAD_COUNT: '1' },
    more: 'sequence_batching { max_sequence_idle_microseconds: 60000000 direct { } }\ninstance_group { kind: KIND_CPU }',
  });
  writeModelTree(repository, { name: 'steps', config: sequences, versions: { 1: 'native_torchscript/slow.pt' } });
  writeModelTree(repository, { name: 'identity', config, versions: { 1: 'identity/model.pt' } });
  server = await startNereid([repository]);
  client = openGrpcClient(server.grpcPlace);
}, 120_000);
afterEach(async () => {
  gate.open();
  await until('batched', IDLE);
});
afterAll(async () => {
  client?.close();
  await server?.stop();
  rmSync(repository, { recursive: true });
});

/** A request on its way. */
interface Sent {
  /** How it ended: a status of HTTP, a code of gRPC, 'gone' for what the client has given up. */
  readonly ended: Promise<number | string>;
  /** Does not wait any longer. */
  leave(): void;
}

const values = (rows: number) => ({ name: 'x', datatype: 'FP32', shape: [rows, 1] });

function post(path: string, body: object | Buffer, headers: Record<string, string | number> = {}): Sent {
  const call = requestHttp(`${server.url}/v2/models/${path}`, { method: 'POST', agent: false, headers });
  const ended = new Promise<number | string>((resolve) => {
    call.on('response', (response) => {
      response.resume();
      response.on('close', () => resolve(response.complete ? (response.statusCode ?? 0) : 'gone'));
    });
    call.on('error', () => resolve('gone'));
  });
  call.end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
  return { ended, leave: () => call.destroy() };
}

const infer = (model: string, { rows = 1, parameters = {} } = {}): Sent =>
  post(`${model}/infer`, { parameters, inputs: [{ ...values(rows), data: Array(rows).fill(1) }] });

const grpcRequest = (model: string) => ({
  model_name: model,
  inputs: [{ ...values(1), contents: { fp32_contents: [1] } }],
});

function unary(model: string, options: grpc.CallOptions = {}): Sent {
  const call = Reflect.get(client, 'ModelInfer') as UnaryCall;
  let leave = () => {};
  const ended = new Promise<number | string>((resolve) => {
    const made = call.call(client, grpcRequest(model), options, (error) => resolve(error?.code ?? 0));
    leave = () => made.cancel();
  });
  return { ended, leave };
}

function stream(request: object, options: grpc.CallOptions = {}): Sent & { readonly answers: object[] } {
  const open = Reflect.get(client, 'ModelStreamInfer') as (
    options: grpc.CallOptions,
  ) => grpc.ClientDuplexStream<unknown, object>;
  const call = open.call(client, options);
  const answers: object[] = [];
  const ended = new Promise<number | string>((resolve) => {
    call.on('data', (answer) => answers.push(answer));
    call.on('error', () => {});
    call.on('status', ({ code }) => resolve(code));
  });
  call.write(request);
  return { ended, answers, leave: () => call.cancel() };
}

/** A unary call on a connection of its own, which is cut: a client of grpc-js that is closed lets its calls end. */
function cutOff(model: string): Sent {
  const { service } = client.constructor as grpc.ServiceClientConstructor;
  const message = service.ModelInfer?.requestSerialize(grpcRequest(model)) ?? Buffer.alloc(0);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  const session = connect(`http://${server.grpcPlace}`);
  const call = session.request({
    ':method': 'POST',
    ':path': '/inference.GRPCInferenceService/ModelInfer',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  call.end(Buffer.concat([prefix, message]));
  const ended = new Promise<string>((resolve) => call.on('close', () => resolve('gone')));
  return { ended, leave: () => session.destroy() };
}

/** Leaves when its time is up, and no sooner. */
const patient = ({ ended }: Sent): Sent => ({ ended, leave() {} });
const deadline = () => ({ deadline: Date.now() + DEADLINE_MS });
const CANCELLED = 1;
const DEADLINE_EXCEEDED = 4;

const WAYS: Readonly<Record<string, readonly [send: (model: string) => Sent, ends: number | string]>> = {
  'HTTP, the connection closed': [(model) => infer(model), 'gone'],
  'generate, the connection closed': [(model) => post(`${model}/generate`, { x: 1 }), 'gone'],
  'generate_stream, the connection closed': [(model) => post(`${model}/generate_stream`, { x: 1 }), 'gone'],
  'gRPC, cancelled': [(model) => unary(model), CANCELLED],
  'gRPC, the connection closed': [cutOff, 'gone'],
  'gRPC, the deadline passed': [(model) => patient(unary(model, deadline())), DEADLINE_EXCEEDED],
  'gRPC stream, cancelled': [(model) => stream(grpcRequest(model)), CANCELLED],
  'gRPC stream, the deadline passed': [(model) => patient(stream(grpcRequest(model), deadline())), DEADLINE_EXCEEDED],
};
const ways = Object.keys(WAYS);

/** Sends by one of the ways. */
function sendBy(way: string, model: string): Sent & { readonly ends: number | string } {
  const [send, ends] = WAYS[way] ?? [infer, ''];
  return { ...send(model), ends };
}

const until = (model: string, expected: ModelMetrics) =>
  vi.waitFor(async () => expect(await modelMetrics(server, model)).toMatchObject(expected), poll);

const IDLE = { pending_request_count: 0, executing_request_count: 0, instance_batches: 0 };
const KEPT = ['request_success', 'request_failure CANCELED', 'request_failure BACKEND', 'count', 'exec_count'];

/** What was counted since it was made. */
async function counting(model: string) {
  const before = await modelMetrics(server, model);
  return async () => {
    const after = await modelMetrics(server, model);
    return Object.fromEntries(KEPT.map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]));
  };
}

const counted = ({
  successes = 0,
  cancelled = 0,
  executions,
}: {
  readonly successes?: number;
  readonly cancelled?: number;
  readonly executions?: number;
}) => ({
  request_success: successes,
  'request_failure CANCELED': cancelled,
  'request_failure BACKEND': 0,
  count: successes,
  exec_count: executions ?? successes,
});

/** Statistics of the endpoint, beside the metrics. */
async function failures(model: string): Promise<number> {
  const body = (await (await fetch(`${server.url}/v2/models/${model}/stats`)).json()) as {
    readonly model_stats: readonly [{ readonly inference_stats: { readonly fail: { readonly count: number } } }];
  };
  return body.model_stats[0].inference_stats.fail.count;
}

describe('a request that waits', () => {
  const model = 'batched';

  test.each(ways)('leaves the queue at once and never runs: %s', async (way) => {
    const since = await counting(model);
    const failed = await failures(model);
    gate.close();
    const runs = infer(model);
    await until(model, { executing_request_count: 1 });
    const leaves = sendBy(way, model);
    await until(model, { pending_request_count: 1 });
    const behind = infer(model);
    await until(model, { pending_request_count: 2 });
    leaves.leave();
    // The gate is still closed: nothing has run since.
    await until(model, { pending_request_count: 1, executing_request_count: 1 });
    expect(await since()).toEqual(counted({ cancelled: 1 }));
    expect(await failures(model)).toBe(failed + 1);
    expect(await leaves.ended).toBe(leaves.ends);
    gate.open();
    expect([await runs.ended, await behind.ended]).toEqual([200, 200]);
    expect(await since()).toEqual(counted({ successes: 2, cancelled: 1 }));
    await until(model, IDLE);
  });
});

describe('a request that runs', () => {
  test.each(ways.filter((way) => !way.includes('deadline')))('runs to its end and is counted: %s', async (way) => {
    const since = await counting('batched');
    gate.close();
    const leaves = sendBy(way, 'batched');
    await until('batched', { executing_request_count: 1 });
    const behind = infer('batched');
    await until('batched', { pending_request_count: 1 });
    leaves.leave();
    expect(await leaves.ended).toBe(leaves.ends);
    expect(await since()).toEqual(counted({}));
    gate.open();
    expect(await behind.ended).toBe(200);
    expect(await since()).toEqual(counted({ successes: 2 }));
    await until('batched', IDLE);
  });

  test('of a decoupled model ends in the middle, over both protocols', async () => {
    const request = { IN: Array(1000).fill(1), DELAY: 20 };
    const since = await counting('repeat');
    const events = post('repeat/generate_stream', request);
    const overGrpc = stream({
      model_name: 'repeat',
      inputs: [
        { name: 'IN', datatype: 'INT32', shape: [1000], contents: { int_contents: request.IN } },
        { name: 'DELAY', datatype: 'INT32', shape: [1], contents: { int_contents: [request.DELAY] } },
      ],
    });
    await vi.waitFor(() => expect(overGrpc.answers.length).toBeGreaterThan(2), poll);
    for (const { leave } of [events, overGrpc]) leave();
    // A thousand responses would take twenty seconds.
    await until('repeat', { ...IDLE, 'request_failure CANCELED': 2 });
    expect((await since()).request_success).toBe(0);
  });
});

describe('what shares its way', () => {
  test('the other members of a batch run, in a batch of their own', async () => {
    const since = await counting('batched');
    gate.close();
    const runs = infer('batched');
    await until('batched', { executing_request_count: 1 });
    const leaving: Sent[] = [];
    const staying: Sent[] = [];
    for (const way of ['HTTP, the connection closed', 'gRPC, cancelled', 'gRPC stream, cancelled']) {
      leaving.push(sendBy(way, 'batched'));
      staying.push(infer('batched'));
      await until('batched', { pending_request_count: 2 * leaving.length });
    }
    for (const { leave } of leaving) leave();
    await until('batched', { pending_request_count: 3 });
    gate.open();
    for (const { ended } of [runs, ...staying]) expect(await ended).toBe(200);
    expect(await since()).toEqual(counted({ successes: 4, cancelled: 3, executions: 2 }));
    await until('batched', IDLE);
  });

  test('every request of a stream is cancelled with it', async () => {
    const since = await counting('batched');
    gate.close();
    const runs = infer('batched');
    await until('batched', { executing_request_count: 1 });
    const open = Reflect.get(client, 'ModelStreamInfer') as () => grpc.ClientDuplexStream<unknown, unknown>;
    const call = open.call(client);
    call.on('error', () => {});
    call.on('data', () => {});
    for (let i = 0; i < 5; i++) call.write(grpcRequest('batched'));
    await until('batched', { pending_request_count: 5 });
    call.cancel();
    await until('batched', { pending_request_count: 0, executing_request_count: 1 });
    gate.open();
    expect(await runs.ended).toBe(200);
    expect(await since()).toEqual(counted({ successes: 1, cancelled: 5 }));
  });

  test('the requests behind it in its sequence are cancelled, and another sequence goes on', async () => {
    const step = (id: number, flags: Record<string, boolean>, milliseconds = 1) =>
      post('steps/infer', {
        parameters: { sequence_id: id, ...flags },
        inputs: [{ name: 'x', datatype: 'FP32', shape: [1], data: [milliseconds] }],
      });
    const since = await counting('steps');
    const first = step(1, { sequence_start: true }, SLOW_MS);
    await until('steps', { executing_request_count: 1 });
    const leaves = step(1, {});
    await until('steps', { pending_request_count: 1 });
    const behind = step(1, { sequence_end: true });
    const other = step(2, { sequence_start: true, sequence_end: true });
    await until('steps', { pending_request_count: 3 });
    leaves.leave();
    // Of the other sequence one is left.
    await until('steps', { pending_request_count: 1, executing_request_count: 1 });
    expect(await behind.ended).toBe(400);
    expect([await first.ended, await other.ended]).toEqual([200, 200]);
    expect(await since()).toMatchObject({ request_success: 2, 'request_failure CANCELED': 2, count: 2 });
    await until('steps', IDLE);
  });
});

describe('a client that goes away while its answer is written', () => {
  async function externalBytes(): Promise<number> {
    const text = await (await fetch(`http://${server.metricsPlace}/metrics`)).text();
    return Number(/^nereid_external_memory_bytes (\d+)$/m.exec(text)?.[1]);
  }

  test('leaves nothing behind: the memory of the answer goes back', async () => {
    const json = JSON.stringify({
      parameters: { binary_data_output: true },
      inputs: [{ name: 'x', datatype: 'UINT8', shape: [LARGE_BYTES], parameters: { binary_data_size: LARGE_BYTES } }],
    });
    const body = Buffer.concat([Buffer.from(json), Buffer.alloc(LARGE_BYTES)]);
    const before = await externalBytes();
    for (let i = 0; i < LARGE_ANSWERS; i++) {
      const call = requestHttp(`${server.url}/v2/models/identity/infer`, {
        method: 'POST',
        agent: false,
        headers: { 'content-length': body.length, 'inference-header-content-length': json.length },
      });
      call.on('error', () => {});
      call.end(body);
      const [response] = (await once(call, 'response')) as [NodeJS.ReadableStream];
      await once(response, 'data');
      call.destroy();
    }
    await until('identity', { ...IDLE, request_success: LARGE_ANSWERS, 'request_failure CANCELED': 0 });
    // What they sent goes with the garbage, some time.
    await vi.waitFor(async () => expect(await externalBytes()).toBeLessThan(before + 4 * LARGE_BYTES), poll);
  });
});

describe('the Python clients', () => {
  let lines: ReadonlyMap<string, CheckLine>;
  beforeAll(async () => {
    lines = await runChecks(SCRIPT, server.url, server.grpcPlace, server.metricsPlace, repository);
  }, 120_000);

  test.each(checks)('%s', (name) => {
    const line = lines.get(name);
    expect(line, 'the check did not run; it must stand in CHECKS').toBeDefined();
    expect(line?.error ?? '').toBe('');
  });
});
