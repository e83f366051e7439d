/** The metrics of a server after requests of each kind, read by the parser of the Prometheus client, beside its statistics and what the original has. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testModel } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { BatchingClient } from '../src/batching-client.ts';
import { Scrape, shapeOf } from '../src/metrics-scrape.ts';
import { writeModelTree } from '../src/model-tree.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const GOLDEN = fileURLToPath(new URL('../golden/metrics.txt', import.meta.url));
/** Of requests that state their timeout; two may wait. */
const SPIN = `backend: "pytorch"
platform: "pytorch_libtorch"
max_batch_size: 1
input [ { name: "rounds" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 1 ] } ]
dynamic_batching {
  default_queue_policy { max_queue_size: 2 default_timeout_microseconds: 60000000 allow_timeout_override: true }
}
metric_tags { key: "team" value: "a \\"quoted\\" \\\\ name\\nin two lines" }
`;
const SPIN_LABELS = { model: 'spin', version: '1', _team: 'a "quoted" \\ name\nin two lines' };
const QUANTILES = '0.5:0.05,0.99:0.001';
/** Families of ours, and those that have to be asked for. */
const NOT_ALWAYS = /^(# TYPE )?(nereid_|nv_inference_\w+_summary_us|nv_inference_first_response_histogram_ms)/;
/** Rounds that keep the instance busy for longer than everything else here takes. */
const LONG = 200_000;

interface Counted {
  readonly count: number;
  readonly ns: number;
}

interface Statistics {
  readonly name: string;
  readonly version: string;
  readonly inference_count: number;
  readonly execution_count: number;
  readonly inference_stats: Readonly<
    Record<'success' | 'fail' | 'queue' | 'compute_input' | 'compute_infer' | 'compute_output', Counted>
  >;
  readonly batching?: {
    readonly batch_sizes: readonly { readonly batch_size: number; readonly count: number }[];
    readonly closed: Readonly<Record<string, number>>;
  };
}

const repository = mkdtempSync(join(tmpdir(), 'nereid-metrics-'));
let server: NereidProcess;
let client: BatchingClient;
let scrape: Scrape;
let statistics: readonly Statistics[];
/** While one request runs. */
let busy: string;

const metricsUrl = () => `http://${server.metricsPlace}/metrics`;
const addSub = (rows: number) =>
  client.send({
    model: 'addsub',
    inputs: ['a', 'b'].map((name) => ({ name, rows, columns: 3, value: 1 })),
  }).answer;
const picky = (value: number) =>
  client.send({ model: 'picky', inputs: [{ name: 'x', rows: 1, columns: 2, value }] }).answer;
const spin = (rounds: number, parameters = '') =>
  client.send({ model: 'spin', inputs: [{ name: 'rounds', rows: 1, columns: 1, value: rounds }], parameters });

/** Waits until so many requests of the spinning model are pending, and so many batches of it were formed. */
async function waitFor(pending: number, formed: number): Promise<void> {
  const poll = { interval: 5, timeout: 20_000 };
  await vi.waitFor(async () => expect((await client.counts('spin')).formed).toBe(formed), poll);
  const line = new RegExp(`^nv_inference_pending_request_count\\{.*model="spin".*\\} ${pending}$`, 'm');
  await vi.waitFor(async () => expect(await (await fetch(metricsUrl())).text()).toMatch(line), poll);
}

/** While one request runs, one waits, one finds the queue full, one goes away and one waits for too long. */
async function failInTheQueue(): Promise<void> {
  const held = spin(LONG);
  await waitFor(0, 1);
  busy = await (await fetch(metricsUrl())).text();
  const waits = spin(1);
  const leaves = spin(1);
  await waitFor(2, 1);
  expect(await spin(1).answer).toMatchObject({ status: 503, error: expect.stringContaining('maximum queue size') });
  leaves.leave();
  await waitFor(1, 1);
  expect(await spin(1, '"timeout":10000').answer).toMatchObject({
    status: 503,
    error: expect.stringContaining('timeout expired'),
  });
  for (const { answer } of [held, waits]) expect(await answer).toMatchObject({ status: 200 });
}

beforeAll(async () => {
  for (const name of ['addsub', 'picky'])
    cpSync(join(testModel('golden_repository'), name), join(repository, name), { recursive: true });
  writeModelTree(repository, { name: 'spin', config: SPIN, versions: { 1: 'spinning/model.pt' } });
  const measured = ['histogram_latencies=true', 'summary_latencies=true', `summary_quantiles=${QUANTILES}`];
  server = await startNereid(
    [repository],
    measured.map((setting) => `--metrics-config=${setting}`),
  );
  client = await BatchingClient.connect(server.url, 8);
  for (const rows of [1, 2, 3]) expect(await addSub(rows)).toMatchObject({ status: 200 });
  expect(await picky(1)).toMatchObject({ status: 200 });
  for (let i = 0; i < 2; i++) expect((await picky(-1))?.status).toBeGreaterThanOrEqual(400);
  // Refused before it is queued, and so counted nowhere.
  expect(await addSub(1000)).toMatchObject({ status: 400 });
  await failInTheQueue();
  scrape = await Scrape.of(metricsUrl());
  const response = await fetch(`${server.url}/v2/models/stats`);
  statistics = ((await response.json()) as { readonly model_stats: readonly Statistics[] }).model_stats;
}, 120_000);
afterAll(async () => {
  client?.[Symbol.dispose]();
  await server?.stop();
  rmSync(repository, { recursive: true });
});

test('a model of the original has the same series and types', async () => {
  const text = await (await fetch(metricsUrl())).text();
  const ours = [...shapeOf(text)].filter((line) => !NOT_ALWAYS.test(line) && !/model="(picky|spin)"/.test(line));
  expect(ours.sort()).toEqual([...shapeOf(readFileSync(GOLDEN, 'utf8'))].sort());
});

test('the parser finds every family with help, a type and samples', () => {
  expect(scrape.families.length).toBe(28);
  for (const { name, type, help, samples } of scrape.families) {
    expect(`${name} ${type}`).toMatch(/ (counter|gauge|histogram|summary)$/);
    expect(help).not.toBe('');
    expect(samples, name).not.toHaveLength(0);
  }
});

test.each([
  ['addsub', '1', {}, 0],
  ['addsub', '3', {}, 3],
  ['picky', '1', { BACKEND: 2 }, 1],
  ['spin', '1', { REJECTED: 1, CANCELED: 1, OTHER: 1 }, 2],
])('%s version %s failed by reason as asked: %j', (model, version, failures, successes) => {
  const labels = model === 'spin' ? SPIN_LABELS : { model, version };
  expect(scrape.by('nv_inference_request_failure', labels, 'reason')).toEqual({
    ...{ REJECTED: 0, CANCELED: 0, BACKEND: 0, OTHER: 0 },
    ...failures,
  });
  expect(scrape.value('nv_inference_request_success', labels)).toBe(successes);
});

describe('metrics and statistics agree', () => {
  test.each([
    ['addsub', '1'],
    ['addsub', '3'],
    ['picky', '1'],
    ['spin', '1'],
  ])('on %s version %s', (model, version) => {
    const counted = statistics.find((entry) => entry.name === model && entry.version === version);
    if (counted === undefined) throw new Error(`there are no statistics of ${model} version ${version}`);
    const { inference_stats: of, batching } = counted;
    const labels = model === 'spin' ? SPIN_LABELS : { model, version };
    const micros = ({ ns }: Counted) => Math.floor(ns / 1000);
    const expected = {
      nv_inference_request_success: of.success.count,
      nv_inference_count: counted.inference_count,
      nv_inference_exec_count: counted.execution_count,
      nv_inference_request_duration_us: micros(of.success),
      nv_inference_queue_duration_us: micros(of.queue),
      nv_inference_compute_input_duration_us: micros(of.compute_input),
      nv_inference_compute_infer_duration_us: micros(of.compute_infer),
      nv_inference_compute_output_duration_us: micros(of.compute_output),
      nv_inference_pending_request_count: 0,
    };
    for (const [name, value] of Object.entries(expected)) expect(scrape.value(name, labels), name).toBe(value);
    const failures = Object.values(scrape.by('nv_inference_request_failure', labels, 'reason'));
    expect(failures.reduce((sum, count) => sum + count, 0)).toBe(of.fail.count);
    expect(scrape.value('nv_model_load_duration_secs', labels)).toBeGreaterThan(0);
    const sizes = (batching?.batch_sizes ?? []).map(({ batch_size, count }) => [batch_size, count]);
    expect(scrape.by('nereid_batches_total', labels, 'batch_size')).toEqual(Object.fromEntries(sizes));
    expect(scrape.by('nereid_batches_closed_total', labels, 'reason')).toEqual(batching?.closed ?? {});
  });
});

describe('latencies are summarized', () => {
  test.each(['request', 'queue', 'compute_input', 'compute_infer', 'compute_output'])('of %s', (part) => {
    const name = `nv_inference_${part}_summary_us`;
    for (const [labels, requests] of [
      [{ model: 'addsub', version: '3' }, 3],
      [SPIN_LABELS, 2],
    ] as const) {
      expect(scrape.value(`${name}_count`, labels)).toBe(requests);
      const total = scrape.value(`nv_inference_${part}_duration_us`, labels) ?? Number.NaN;
      const sum = scrape.value(`${name}_sum`, labels) ?? Number.NaN;
      // Each request is cut to whole microseconds here, and their sum is there.
      expect(sum).toBeLessThanOrEqual(total);
      expect(sum).toBeGreaterThan(total - requests - 1);
      const { 0.5: median = 0, 0.99: most = 0 } = scrape.by(name, labels, 'quantile');
      expect(median).toBeLessThanOrEqual(most);
      expect(most).toBeLessThanOrEqual(sum);
      expect(most * requests).toBeGreaterThanOrEqual(sum);
    }
  });

  test('and are NaN where there was no request', () => {
    const labels = { model: 'addsub', version: '1' };
    expect(scrape.by('nv_inference_request_summary_us', labels, 'quantile')).toEqual({
      0.5: Number.NaN,
      0.99: Number.NaN,
    });
    expect(scrape.value('nv_inference_request_summary_us_count', labels)).toBe(0);
  });
});

test('first responses are counted into buckets, failures included', () => {
  const count = (labels: Readonly<Record<string, string>>) =>
    scrape.value('nv_inference_first_response_histogram_ms_count', labels);
  expect(count({ model: 'addsub', version: '3' })).toBe(3);
  expect(count({ model: 'picky', version: '1' })).toBe(3);
  expect(count(SPIN_LABELS)).toBe(5);
  const buckets = scrape.by('nv_inference_first_response_histogram_ms_bucket', SPIN_LABELS, 'le');
  expect(Object.keys(buckets)).toEqual(['100', '500', '2000', '5000', '+Inf']);
  expect(buckets['+Inf']).toBe(5);
});

test('what instances have to do is told while they do it', () => {
  const spinning = 'model="spin",version="1"';
  const line = (name: string, labels: string) => new RegExp(`^${name}\\{.*${labels}\\} 1$`, 'm');
  expect(busy).toMatch(line('nereid_executing_request_count', spinning));
  expect(busy).toMatch(line('nereid_instance_batches', `instance="spin_0",${spinning}`));
  expect(scrape.value('nereid_executing_request_count', SPIN_LABELS)).toBe(0);
  expect(scrape.by('nereid_instance_batches', SPIN_LABELS, 'instance')).toEqual({ spin_0: 0 });
});

test('the machine and the process are told', () => {
  const used = scrape.value('nv_cpu_memory_used_bytes', {}) ?? 0;
  expect(used).toBeGreaterThan(0);
  expect(used).toBeLessThan(scrape.value('nv_cpu_memory_total_bytes', {}) ?? 0);
  expect(scrape.value('nv_cpu_utilization', {})).toBeLessThanOrEqual(1);
  expect(scrape.value('nereid_external_memory_bytes', {})).toBeGreaterThan(0);
  const late = scrape.by('nereid_event_loop_delay_seconds_bucket', {}, 'le');
  const count = scrape.value('nereid_event_loop_delay_seconds_count', {}) ?? 0;
  expect(count).toBeGreaterThan(0);
  expect(late['+Inf']).toBe(count);
  expect(late['2.5']).toBeLessThanOrEqual(count);
});
