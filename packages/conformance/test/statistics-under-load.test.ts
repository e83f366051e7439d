/**
 * Mixed load over every protocol, then four books that have to agree to the last request: what the clients saw, the access log, the statistics over both protocols, and the
 * metrics. While it lasts, statistics are read again and again: they only grow, and their parts never exceed the whole.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { testModel } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { GrpcReplayer } from '../src/grpc-recording.ts';
import {
  LoadClient,
  type LoadProtocol,
  type LoadRequest,
  type LoadTensor,
  type Outcome,
  PROTOCOLS,
} from '../src/load-client.ts';
import { type ModelMetrics, modelMetrics } from '../src/model-metrics.ts';
import { writeModelTree } from '../src/model-tree.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const DECOUPLED = fileURLToPath(new URL('../repositories/decoupled/repeat', import.meta.url));
/** A queue in which requests find no place, and run out of time. */
const SPIN = `backend: "pytorch"
platform: "pytorch_libtorch"
max_batch_size: 4
input [ { name: "rounds" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 1 ] } ]
dynamic_batching {
  default_queue_policy { max_queue_size: 3 default_timeout_microseconds: 10000000 allow_timeout_override: true }
}
`;
const WORKERS = 8;
const REQUESTS_PER_WORKER = 90;
const MODELS = ['addsub', 'picky', 'running', 'spin', 'repeat'];

interface Counted {
  readonly count: number;
  readonly ns: number;
}

const PARTS = ['queue', 'compute_input', 'compute_infer', 'compute_output'] as const;

interface Statistics {
  readonly name: string;
  readonly version: string;
  readonly inference_count: number;
  readonly execution_count: number;
  readonly inference_stats: Readonly<Record<'success' | 'fail' | (typeof PARTS)[number], Counted>>;
  readonly batch_stats: readonly (Readonly<Record<(typeof PARTS)[1 | 2 | 3], Counted>> & {
    readonly batch_size: number;
  })[];
}

/** What a client knows of a request. */
interface Seen {
  readonly model: string;
  readonly protocol: LoadProtocol;
  readonly outcome: Outcome;
}

/** A line of the access log. */
type Line = Readonly<Record<string, string>>;

const repository = mkdtempSync(join(tmpdir(), 'nereid-books-'));
const seen = new Map<string, Seen>();
const samples: (readonly Statistics[])[] = [];
let server: NereidProcess;
let statistics: readonly Statistics[];
let overGrpc: readonly Statistics[];
let metrics: Readonly<Record<string, ModelMetrics>>;
let lines: readonly Line[];

/** A generator of random numbers from 0 to 1, the same each time. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const floats = (name: string, shape: readonly number[], value: number): LoadTensor => {
  const count = shape.reduce((product, size) => product * size, 1);
  return { name, datatype: 'FP32', shape, data: Array<number>(count).fill(value) };
};
const whole = (name: string, data: readonly number[]): LoadTensor => {
  return { name, datatype: 'INT32', shape: [data.length], data };
};

/** One client: what it asks is answered, or given up, before it asks again. */
async function work(client: LoadClient, worker: number): Promise<void> {
  const next = random(worker + 1);
  const below = (limit: number) => Math.floor(next() * limit);
  const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T;
  let sent = 0;
  const send = async (protocol: LoadProtocol, request: Omit<LoadRequest, 'id'>): Promise<void> => {
    const id = `${worker}-${sent++}`;
    const outcome = await client.send(protocol, { ...request, id }, below(5) === 0 ? 1 + below(20) : undefined);
    seen.set(id, { model: request.model, protocol, outcome });
  };
  const infer = () => oneOf(['http', 'grpc', 'grpc-stream'] as const);
  const kinds: (() => Promise<void>)[] = [
    () => {
      const rows = 1 + below(4);
      return send(infer(), { model: 'addsub', inputs: ['a', 'b'].map((name) => floats(name, [rows, 3], 1)) });
    },
    () => send(infer(), { model: 'addsub', inputs: ['a', 'b'].map((name) => floats(name, [9, 3], 1)) }),
    () => send(infer(), { model: 'nosuch', inputs: [floats('a', [1, 3], 1)] }),
    () => send(infer(), { model: 'picky', inputs: [floats('x', [1 + below(2), 2], oneOf([1, 1, 1, -1]))] }),
    async () => {
      for (let step = 0; step < 3; step++) {
        const parameters = { sequence_id: worker + 1, sequence_start: step === 0, sequence_end: step === 2 };
        await send(infer(), { model: 'running', inputs: [floats('INPUT__0', [1, 1], 1)], parameters });
      }
    },
    async () => {
      // More at once than the queue takes.
      const burst = Array.from({ length: 5 }, () => {
        const rounds = floats('rounds', [1, 1], 2000 + below(4000));
        const parameters = oneOf([{}, {}, { timeout: 2000 }]);
        return send(oneOf(['http', 'grpc', 'generate'] as const), { model: 'spin', inputs: [rounds], parameters });
      });
      await Promise.all(burst);
    },
    () => {
      const inputs = [whole('IN', oneOf([[1], [1, 2, 3], [], [1, -1]])), whole('DELAY', [below(4)])];
      return send(oneOf(['grpc-stream', 'generate_stream'] as const), { model: 'repeat', inputs });
    },
  ];
  while (sent < REQUESTS_PER_WORKER) await oneOf(kinds)();
}

async function statisticsOverHttp(): Promise<readonly Statistics[]> {
  const answer = await fetch(`${server.url}/v2/models/stats`);
  return ((await answer.json()) as { readonly model_stats: readonly Statistics[] }).model_stats;
}

/** Over gRPC, 64-bit numbers come as text, and what is 0 is left out; times are masked. */
async function statisticsOverGrpc(): Promise<readonly Statistics[]> {
  using replayer = new GrpcReplayer(server.grpcPlace);
  const { response } = await replayer.send({ name: '', rpc: 'ModelStatistics', request: {}, answer: { code: 'OK' } });
  return (response as { readonly model_stats: readonly Statistics[] }).model_stats;
}

beforeAll(async () => {
  for (const name of ['addsub', 'picky', 'running'])
    cpSync(join(testModel('golden_repository'), name), join(repository, name), { recursive: true });
  cpSync(DECOUPLED, join(repository, 'repeat'), { recursive: true });
  writeModelTree(repository, { name: 'spin', config: SPIN, versions: { 1: 'spinning/model.pt' } });
  server = await startNereid([repository], ['--access-log=true']);
  using client = new LoadClient(server);
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      samples.push(await statisticsOverHttp());
      await sleep(20);
    }
  })();
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(client, worker)));
  isOver = true;
  await watching;
  await vi.waitFor(
    async () => {
      metrics = Object.fromEntries(
        await Promise.all(MODELS.map(async (model) => [model, await modelMetrics(server, model)] as const)),
      );
      for (const model of MODELS)
        expect(metrics[model]).toMatchObject({ pending_request_count: 0, executing_request_count: 0 });
    },
    { interval: 20, timeout: 20_000 },
  );
  statistics = await statisticsOverHttp();
  samples.push(statistics);
  overGrpc = await statisticsOverGrpc();
  await server.stop();
  lines = [...server.output().matchAll(/\] inference (id=\d+-\d+ .*)$/gm)].map(([, fields = '']) =>
    Object.fromEntries([...fields.matchAll(/(\w+)=(.*?)(?= \w+=|$)/g)].map(([, key = '', value = '']) => [key, value])),
  );
}, 120_000);
afterAll(async () => {
  await server?.stop();
  rmSync(repository, { recursive: true });
});

const find = (all: readonly Statistics[], model: string): Statistics => {
  const found = all.findLast(({ name }) => name === model);
  if (found === undefined) throw new Error(`there are no statistics of '${model}'`);
  return found;
};

/** Lines of requests that the model was given; those of requests refused before that have no version. */
const linesOf = (model: string) => lines.filter((line) => line.model === model && line.version !== '');

/** Status of a failed request over HTTP, and its code over gRPC, by the code of the error. */
const TOLD: Readonly<Record<string, readonly string[]>> = {
  INVALID_ARG: ['400', 'INVALID_ARGUMENT'],
  CANCELLED: ['400', 'CANCELLED'],
  UNKNOWN: ['400', 'UNKNOWN'],
  NOT_FOUND: ['404', 'NOT_FOUND'],
  INTERNAL: ['500', 'INTERNAL'],
  UNAVAILABLE: ['503', 'UNAVAILABLE'],
};

test('the load has every kind of request, over every protocol', () => {
  const protocols = [...seen.values()].map(({ protocol }) => protocol);
  expect(new Set(protocols)).toEqual(new Set(PROTOCOLS));
  const failures = Object.entries(metrics.spin ?? {});
  for (const reason of ['REJECTED', 'CANCELED', 'OTHER'])
    expect(Object.fromEntries(failures)[`request_failure ${reason}`], reason).toBeGreaterThan(0);
  expect(metrics.picky?.['request_failure BACKEND']).toBeGreaterThan(0);
  expect(metrics.repeat?.['request_failure BACKEND']).toBeGreaterThan(0);
  for (const model of MODELS) expect(metrics[model]?.request_success, model).toBeGreaterThan(0);
});

describe('what clients saw is in the access log', () => {
  const byId = () => {
    const logged = new Map<string, Line[]>();
    for (const line of lines) logged.set(line.id ?? '', [...(logged.get(line.id ?? '') ?? []), line]);
    return logged;
  };

  test('each request that was answered once, with the same end', () => {
    const logged = byId();
    for (const [id, { model, protocol, outcome }] of seen) {
      if (outcome === 'gone') continue;
      const [line, ...more] = logged.get(id) ?? [];
      const about = `${id} ${model} ${protocol} ${outcome} ${JSON.stringify(line)}`;
      // HTTP refuses an unknown model before it reads the request.
      if (line === undefined) expect([model, outcome], about).toEqual(['nosuch', '404']);
      else if (outcome === 'OK') expect(line.status, about).toBe('OK');
      else if (outcome === 'error') expect(line.status, about).not.toBe('OK');
      else expect(TOLD[line.status ?? ''], about).toContain(outcome);
      expect(more, about).toEqual([]);
    }
  });

  test('each that was given up once at most, as one that ran or one that was cancelled', () => {
    const logged = byId();
    for (const [id, { outcome }] of seen) {
      if (outcome !== 'gone') continue;
      const own = logged.get(id) ?? [];
      expect(own.length).toBeLessThanOrEqual(1);
    }
    expect([...seen.values()].filter(({ outcome }) => outcome === 'gone').length).toBeGreaterThan(WORKERS);
    for (const id of logged.keys()) expect(seen.has(id)).toBe(true);
  });

  test('each with where it came from, its model, its batch size and its times', () => {
    for (const line of lines) {
      const { model = '', status, protocol, address, batch_size, queue_us, compute_us, total_us } = line;
      const about = JSON.stringify(line);
      expect(`${protocol}`, about).toMatch(/^(http|grpc)$/);
      expect(address === undefined || address === '127.0.0.1', about).toBe(true);
      if (status !== 'OK') continue;
      expect(line.version, about).toBe(model === 'addsub' ? '3' : '1');
      expect(Number(batch_size), about).toBeGreaterThan(0);
      // Each is rounded by itself.
      expect(Number(queue_us) + Number(compute_us), about).toBeLessThanOrEqual(Number(total_us) + 2);
    }
    const sources = new Set(lines.map(({ protocol }) => protocol));
    expect(sources).toEqual(new Set(['http', 'grpc']));
  });
});

describe.each(MODELS)('the books of %s agree', (model) => {
  const REASONS: Readonly<Record<string, string>> = { CANCELLED: 'CANCELED' };

  test('success and failure', () => {
    const { inference_stats } = find(statistics, model);
    const told = linesOf(model);
    const good = told.filter(({ status }) => status === 'OK');
    expect(inference_stats.success.count).toBe(good.length);
    expect(inference_stats.fail.count).toBe(told.length - good.length);
    const cancelled = told.filter(({ status = '' }) => status in REASONS).length;
    expect(metrics[model]?.['request_failure CANCELED']).toBe(cancelled);
    const reasons = ['REJECTED', 'CANCELED', 'BACKEND', 'OTHER'].map(
      (reason) => metrics[model]?.[`request_failure ${reason}`],
    );
    expect(reasons.reduce((sum = 0, count = 0) => sum + count, 0)).toBe(inference_stats.fail.count);
    const answered = [...seen.values()].filter((request) => request.model === model);
    const sure = answered.filter(({ outcome }) => outcome === 'OK').length;
    const unknown = answered.filter(({ outcome }) => outcome === 'gone').length;
    expect(good.length).toBeGreaterThanOrEqual(sure);
    expect(good.length).toBeLessThanOrEqual(sure + unknown);
  });

  test('inferences, executions and batches', () => {
    const { inference_count, execution_count, inference_stats, batch_stats } = find(statistics, model);
    const rows = linesOf(model)
      .filter(({ status }) => status === 'OK')
      .reduce((sum, { batch_size }) => sum + Number(batch_size), 0);
    expect(inference_count).toBe(rows);
    const executions = batch_stats.reduce((sum, { compute_infer }) => sum + compute_infer.count, 0);
    expect(execution_count).toBe(executions);
    for (const { compute_input, compute_infer, compute_output } of batch_stats)
      expect([compute_input.count, compute_output.count]).toEqual([compute_infer.count, compute_infer.count]);
    const ran = batch_stats.reduce((sum, { batch_size, compute_infer }) => sum + batch_size * compute_infer.count, 0);
    // Failed requests ran too where the model is decoupled, and direct sequences have rows without a request.
    if (model === 'repeat' || model === 'running') expect(ran).toBeGreaterThanOrEqual(rows);
    else expect(ran).toBe(rows);
    const { success } = inference_stats;
    for (const part of PARTS) expect(inference_stats[part].count, part).toBe(success.count);
  });

  test('metrics, and statistics over HTTP and gRPC', () => {
    const own = find(statistics, model);
    const { inference_stats: of } = own;
    expect(metrics[model]).toMatchObject({
      request_success: of.success.count,
      count: own.inference_count,
      exec_count: own.execution_count,
      request_duration_us: Math.floor(of.success.ns / 1000),
      queue_duration_us: Math.floor(of.queue.ns / 1000),
      compute_input_duration_us: Math.floor(of.compute_input.ns / 1000),
      compute_infer_duration_us: Math.floor(of.compute_infer.ns / 1000),
      compute_output_duration_us: Math.floor(of.compute_output.ns / 1000),
    });
    const other = find(overGrpc, model);
    expect(Number(other.inference_count)).toBe(own.inference_count);
    expect(Number(other.execution_count)).toBe(own.execution_count);
    for (const part of ['success', 'fail', ...PARTS] as const)
      expect(Number(other.inference_stats[part].count ?? 0), part).toBe(of[part].count);
  });

  test('they only grew, and the parts never exceeded the whole', () => {
    let before: readonly number[] = [];
    for (const sample of samples) {
      const { inference_count, execution_count, inference_stats: of } = find(sample, model);
      const parts = PARTS.reduce((sum, part) => sum + of[part].ns, 0);
      expect(parts).toBeLessThanOrEqual(of.success.ns + 4);
      for (const part of PARTS) expect(of[part].count).toBe(of.success.count);
      const durations = Object.values(of).flatMap(({ count, ns }) => [count, ns]);
      const now = [inference_count, execution_count, ...durations];
      expect(now.every((value, i) => value >= (before[i] ?? 0))).toBe(true);
      before = now;
    }
    expect(samples.length).toBeGreaterThan(3);
  });
});
