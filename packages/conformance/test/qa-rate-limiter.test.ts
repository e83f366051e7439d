/**
 * The rate limiter on real models: in the engine, and through a server process. Models spin for as many rounds as a request asks for; nothing depends on how long that takes, but on what runs
 * meanwhile.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InferenceRequest } from '@nereid/core';
import { type Answer, tensor } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BatchingClient } from '../src/batching-client.ts';
import { writeModelTree } from '../src/model-tree.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';
import { serveRepository } from '../src/real-engine.ts';

/** Rounds that take less than a millisecond, and some. */
const [SHORT, LONG] = [100, 3000];

const SPINNING = `backend: "pytorch"\nplatform: "pytorch_libtorch"\nmax_batch_size: 4
input [ { name: "rounds" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 1 ] } ]
parameters { key: "INTRA_OP_THREAD_COUNT" value { string_value: "1" } }
`;

/** The spinning model with a group that demands so many of R. */
function spinning(name: string, { priority = 1, count = 1, demand = 1, more = '' } = {}) {
  const limiter = `rate_limiter { resources [ { name: "R" count: ${demand} } ] priority: ${priority} }`;
  const group = `instance_group [ { count: ${count} kind: KIND_CPU ${limiter} } ]\n`;
  return { name, config: SPINNING + group + more, versions: { 1: 'spinning/model.pt' } };
}

describe('in the engine', () => {
  const rounds = (value: number) => [tensor({ name: 'rounds', values: [value], shape: [1, 1] })];

  /** When each execution began and, from the model's own measure, the earliest time at which it can have ended; in order. */
  function executions(answers: readonly Answer[]): readonly { readonly start: number; readonly end: number }[] {
    const byStart = new Map(
      answers.map(({ request: { dispatchedMicros: start, execution } }) => {
        return [start, { start, end: start + (execution?.computeInferNs ?? 0) / 1000 }];
      }),
    );
    return [...byStart.values()].sort((a, b) => a.start - b.start);
  }

  function overlaps(answers: readonly Answer[]): number {
    const runs = executions(answers);
    return runs.filter(({ start }, i) => i > 0 && start < (runs[i - 1]?.end ?? 0)).length;
  }

  /** Answers of `count` requests to each of these models, sent at once. */
  async function flood(
    models: readonly ReturnType<typeof spinning>[],
    options: { readonly count: number; readonly value?: number; readonly isLimited?: boolean },
  ): Promise<readonly Answer[]> {
    const { count, value = SHORT, isLimited = true } = options;
    await using real = await serveRepository(models, { rateLimit: isLimited ? {} : undefined });
    expect(real.failures).toEqual([]);
    const requests: InferenceRequest[] = [];
    for (let i = 0; i < count; i++) {
      for (const { name: modelName } of models) requests.push(real.send({ modelName, inputs: rounds(value) }));
    }
    const answers = await Promise.all(requests.map((request) => real.responder.finalOf(request)));
    expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
    return answers;
  }

  test('two models that share a resource never overlap', async () => {
    const models = [spinning('a', { count: 2 }), spinning('b', { more: 'dynamic_batching { }\n' })];
    expect(overlaps(await flood(models, { count: 12 }))).toBe(0);
  });

  test('without the limiter they do', async () => {
    expect(
      overlaps(await flood([spinning('a'), spinning('b')], { count: 2, value: LONG, isLimited: false })),
    ).toBeGreaterThan(0);
  });

  test('two instances run at once where there is enough for two', async () => {
    const models = [spinning('a', { count: 2 }), spinning('wide', { demand: 2 })];
    await using real = await serveRepository(models, { rateLimit: {} });
    const [one, other] = [0, 1].map(() => real.send({ modelName: 'a', inputs: rounds(SHORT) }));
    expect(one?.dispatchedMicros).not.toBe(0);
    expect(other?.dispatchedMicros).not.toBe(0);
    const last = real.send({ modelName: 'wide', inputs: rounds(SHORT) });
    expect(last.dispatchedMicros).toBe(0);
    await real.responder.finalOf(last);
  });

  test('priority 1 runs twice as often as priority 2, while both have something to run', async () => {
    const answers = await flood([spinning('a'), spinning('b', { priority: 2 })], { count: 40, value: 1 });
    const first = answers
      .map(({ request }) => request)
      .sort((a, b) => a.dispatchedMicros - b.dispatchedMicros)
      .slice(0, 45);
    const count = (name: string) => first.filter(({ modelName }) => modelName === name).length;
    expect(count('a') / count('b')).toBeGreaterThan(1.8);
  });

  test('batches are full while others hold the resource', async () => {
    const more = 'dynamic_batching { preferred_batch_size: [ 4 ] max_queue_delay_microseconds: 10000000 }\n';
    const answers = await flood([spinning('a', { more }), spinning('b', { more })], { count: 16 });
    expect(new Set(answers.map(({ request }) => request.batch?.batchSize))).toEqual(new Set([4]));
    expect(overlaps(answers)).toBe(0);
  });
});

describe('through a server', () => {
  const repository = mkdtempSync(join(tmpdir(), 'nereid-qa-limiter-'));
  let server: NereidProcess;

  beforeAll(async () => {
    for (const model of [spinning('a'), spinning('b'), spinning('greedy', { demand: 3 })])
      writeModelTree(repository, model);
    server = await startNereid([repository], ['--rate-limit=execution_count', '--rate-limit-resource=r:1']);
  }, 60_000);
  afterAll(async () => {
    await server?.stop();
    rmSync(repository, { recursive: true });
  });

  /** Nanoseconds that the model computed so far. */
  async function inferNs(model: string): Promise<number> {
    const answer = (await (await fetch(`${server.url}/v2/models/${model}/stats`)).json()) as {
      model_stats: { inference_stats: { compute_infer: { ns: number } } }[];
    };
    return answer.model_stats[0]?.inference_stats.compute_infer.ns ?? 0;
  }

  test('two models that share a resource never overlap', async () => {
    using client = await BatchingClient.connect(server.url, 8);
    const start = performance.now();
    const inputs = [{ name: 'rounds', rows: 1, columns: 1, value: LONG }];
    const calls = Array.from({ length: 4 }, () =>
      ['a', 'b'].map((model) => client.send({ model, inputs }).answer),
    ).flat();
    expect((await Promise.all(calls)).map((answer) => answer?.status)).toEqual(new Array(8).fill(200));
    const elapsedMs = performance.now() - start;
    const inferMs = ((await inferNs('a')) + (await inferNs('b'))) / 1e6;
    expect(inferMs).toBeGreaterThan(0);
    expect(elapsedMs).toBeGreaterThanOrEqual(inferMs);
  });

  test('an instance that demands more than there is fails its load, and no other', async () => {
    const response = await fetch(`${server.url}/v2/repository/index`, { method: 'POST' });
    const index = (await response.json()) as { name: string; reason?: string }[];
    const reasons = Object.fromEntries(index.map(({ name, reason }) => [name, reason]));
    expect(reasons).toEqual({
      a: undefined,
      b: undefined,
      greedy:
        'Resource count for "R" is limited to 1 on device 0, but an instance needs 3 to run: allow 3 at least, or let the instance demand fewer',
    });
  });

  test('a resource that is none ends the start with the way to write it', async () => {
    await expect(
      startNereid([repository], ['--rate-limit=execution_count', '--rate-limit-resource=R']),
    ).rejects.toThrow("option '--rate-limit-resource' takes name:count or name:count:device");
  });
});
