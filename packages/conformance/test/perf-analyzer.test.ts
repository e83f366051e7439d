/** The original's load tool measures a server process: every protocol, way of sending and kind of load comes to a full report. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configText } from '../src/config-text.ts';
import { type ModelTree, writeModelTree } from '../src/model-tree.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';
import { csvRows, type LoadReport, runPerfAnalyzer } from '../src/perf-analyzer.ts';
import { control, sequences, state } from '../src/sequences.ts';

const DECOUPLED = fileURLToPath(new URL('../repositories/decoupled', import.meta.url));

const mlp = (name: string): ModelTree => ({
  name,
  config: configText({
    platform: 'torch_aoti',
    maxBatchSize: 8,
    input: ['INPUT__0 TYPE_FP32 64'],
    output: ['OUTPUT__0 TYPE_FP32 10'],
    more: 'dynamic_batching { }',
  }),
  versions: { 1: 'native_aoti/mlp.pt2' },
});

const MODELS: readonly ModelTree[] = [
  mlp('measured'),
  mlp('counted'),
  {
    name: 'strings',
    config: configText({
      maxBatchSize: 8,
      input: ['{ name: "words" data_type: TYPE_STRING dims: [ 1 ] reshape { shape: [ ] } }'],
      output: ['{ name: "OUTPUT__0" data_type: TYPE_STRING dims: [ 1 ] reshape { shape: [ ] } }'],
    }),
    versions: { 1: 'backend_torchscript/shouted.pt' },
  },
  {
    name: 'sum',
    config: configText({
      maxBatchSize: 8,
      input: ['INPUT__0 TYPE_FP32 1'],
      output: ['OUTPUT__0 TYPE_FP32 1'],
      more: sequences(
        [control('START__2', 'START'), control('READY__3', 'READY')],
        [state('INPUT_STATE__1', 'OUTPUT_STATE__1')],
      ),
    }),
    versions: { 1: 'sequences_torchscript/sum.pt' },
  },
  {
    name: 'adding',
    config: configText({
      input: ['INPUT__0 TYPE_FP32 1', 'INPUT__1 TYPE_FP32 1'],
      output: ['OUTPUT__0 TYPE_FP32 1', 'OUTPUT__1 TYPE_FP32 1'],
    }),
    versions: { 1: 'sequences_torchscript/plain.pt' },
  },
];

const work = mkdtempSync(join(tmpdir(), 'nereid-perf-analyzer-'));
const inWork = (name: string) => join(work, name);
const file = (name: string, content: string) => {
  writeFileSync(inWork(name), content);
  return inWork(name);
};

/** The tool takes no whole numbers for floats. */
const items = (...values: readonly number[]) => values.map((x) => ({ INPUT__0: [x], INPUT__1: [0.25] }));
const sums = (...values: readonly number[]) => values.map((x) => ({ OUTPUT__0: [x], OUTPUT__1: [x] }));

/** Windows of any spread are stable: what is measured here is whether there is a report, not how fast the machine is. */
const WINDOWS = '-p 400 -s 9999';
const count = (requests: number) => `--request-count ${requests} --concurrency-range 4`;
const TRACES = '--trace-level TIMESTAMPS --trace-rate 5 --trace-count 4 --log-frequency 2';

/** One run: what it proves, its arguments, how many levels of load it reports. */
interface Run {
  readonly title: string;
  readonly args: string;
  /** 1 by default. */
  readonly levels?: number;
  /** Runs when no other run does: the tool's names for regions are the same in every process, and it unregisters all. */
  readonly alone?: boolean;
  /**
   * Runs again while its profile is empty: with tensors in regions the tool profiles values from memory it never wrote, and one that is no number empties the
   * file, in some forty runs once.
   */
  readonly repeats?: boolean;
}

const HTTP: readonly Run[] = [
  {
    title: 'synchronous, batches, a range of concurrencies, metrics',
    args: `-m measured -b 2 --concurrency-range 1:3:2 ${WINDOWS} --verbose-csv --collect-metrics --metrics-interval 100`,
    levels: 2,
  },
  { title: 'asynchronous', args: `-m counted --async ${count(60)}` },
  {
    title: 'system shared memory',
    args: `-m counted --async --shared-memory system ${count(60)}`,
    alone: true,
    repeats: true,
  },
  { title: 'tensors as JSON', args: `-m counted --input-tensor-format json --output-tensor-format json ${count(60)}` },
  { title: 'strings', args: `-m strings -b 3 --string-length 16 ${count(60)}` },
  {
    title: 'strings as JSON',
    args: `-m strings -b 3 --input-tensor-format json --output-tensor-format json ${count(60)}`,
  },
  { title: 'sequences', args: `-m sum --sequence-length 5 --sequence-id-range 1000:2000 ${count(60)}` },
  { title: 'intervals from a file', args: `-m measured --request-intervals ${inWork('intervals')} ${WINDOWS}` },
  { title: 'settings of traces', args: `-m counted ${TRACES} ${count(60)}` },
  {
    title: 'values from a file, results compared',
    args: `-m adding --input-data ${inWork('right.json')} ${count(60)}`,
  },
];

const GRPC: readonly Run[] = [
  {
    title: 'synchronous, a range of request rates',
    args: `-m measured --request-rate-range 100:200:100 ${WINDOWS}`,
    levels: 2,
  },
  {
    title: 'asynchronous, compression, parameters, headers',
    args: `-m counted --async --grpc-compression-algorithm gzip --request-parameter level:3:int -H x-from:tool ${count(60)}`,
  },
  { title: 'streaming', args: `-m counted --async --streaming ${count(60)}` },
  {
    title: 'system shared memory',
    args: `-m counted --async --shared-memory system ${count(60)}`,
    alone: true,
    repeats: true,
  },
  { title: 'strings', args: `-m strings -b 3 ${count(60)}` },
  { title: 'sequences', args: `-m sum --async --sequence-length 5 ${count(60)}` },
  {
    title: 'sequences on a stream',
    args: `-m sum --streaming --sequence-length 5 --sequence-id-range 10:200 ${count(60)}`,
  },
  {
    title: 'sequences at a rate, in turn',
    args: `-m sum --async --sequence-length 5 --request-rate-range 100 --num-of-sequences 3 --serial-sequences ${WINDOWS}`,
  },
  { title: 'a decoupled model', args: `-m tokens --async --streaming ${count(20)}` },
  { title: 'settings of traces', args: `-m counted ${TRACES} ${count(60)}` },
];

/** Reports that are not of the common kind. */
const APART = {
  growing: `-i grpc -m tokens --async --streaming --periodic-concurrency-range 1:3:1 --request-period 4 --profile-export-file ${inWork('growing.json')}`,
  failing: `-m adding --input-data ${inWork('failing.json')} ${count(60)}`,
  wrong: `-m adding --input-data ${inWork('wrong.json')} ${count(60)}`,
};

let server: NereidProcess;
const reports = new Map<string, LoadReport>();
/** Runs on the model whose requests are counted, those that were repeated too. */
let countedRuns = 0;

async function perform(key: string, args: string): Promise<void> {
  const place = args.includes('-i grpc') ? server.grpcPlace : new URL(server.url).host;
  if (args.includes('-m counted')) countedRuns++;
  reports.set(key, await runPerfAnalyzer(['-u', place, ...args.split(' ')]));
}

async function performAll(protocol: 'http' | 'grpc', runs: readonly Run[], isAlone: boolean): Promise<void> {
  for (const [i, { title, args, alone = false, repeats = false }] of runs.entries()) {
    if (alone !== isAlone) continue;
    const key = `${protocol}, ${title}`;
    const profile = inWork(`${protocol}-${i}.json`);
    const outputs = `-f ${inWork(`${protocol}-${i}.csv`)} --profile-export-file ${profile}`;
    const metrics = args.includes('--collect-metrics') ? ` --metrics-url ${server.metricsPlace}/metrics` : '';
    for (let tries = repeats ? 5 : 1; tries > 0; tries--) {
      // The tool refuses to write to a file that is there, even to an empty one.
      rmSync(profile, { force: true });
      await perform(key, `-i ${protocol} ${args} ${outputs}${metrics}`);
      if (readFileSync(profile).length > 0) break;
    }
  }
}

beforeAll(async () => {
  const repository = inWork('models');
  for (const model of MODELS) writeModelTree(repository, model);
  file('intervals', '4000\n6000\n');
  file('right.json', JSON.stringify({ data: items(1.5, 2.5), validation_data: sums(1.75, 2.75) }));
  file('wrong.json', JSON.stringify({ data: items(1.5, 2.5), validation_data: sums(1.75, 3.25) }));
  file('failing.json', JSON.stringify({ data: items(1.5, -1) }).replace('-1', '-1.0'));
  server = await startNereid(
    [repository, DECOUPLED],
    [
      '--grpc-port',
      '0',
      '--metrics-port',
      '0',
      '--allow-shared-memory=true',
      `--trace-config=triton,file=${inWork('trace')}`,
    ],
  );
  await Promise.all([performAll('http', HTTP, false), performAll('grpc', GRPC, false)]);
  await performAll('http', HTTP, true);
  await performAll('grpc', GRPC, true);
  await Promise.all(Object.entries(APART).map(([key, args]) => perform(key, args)));
}, 240_000);
afterAll(async () => {
  await server?.stop();
  rmSync(work, { recursive: true, force: true });
});

function reportOf(key: string): LoadReport {
  const report = reports.get(key);
  if (report === undefined) throw new Error(`'${key}' did not run`);
  return report;
}

const LATENCY =
  /^\d+ usec \(overhead \d+ usec \+ queue \d+ usec \+ compute input \d+ usec \+ compute infer \d+ usec \+ compute output \d+ usec\)$/;

const COLUMNS = [
  'Inferences/Second',
  'Client Send',
  'Network+Server Send/Recv',
  'Server Queue',
  'Server Compute Input',
  'Server Compute Infer',
  'Server Compute Output',
  'Client Recv',
  'p50 latency',
  'p90 latency',
  'p95 latency',
  'p99 latency',
];

interface Profile {
  readonly experiments: readonly {
    readonly experiment: { readonly mode: string; readonly value: number };
    readonly requests: readonly {
      readonly timestamp: number;
      readonly sequence_id?: number;
      readonly response_timestamps: readonly number[];
    }[];
  }[];
}

const profileAt = (path: string): Profile => JSON.parse(readFileSync(path, 'utf8')) as Profile;

describe.each([
  ['http', HTTP],
  ['grpc', GRPC],
] as const)('over %s', (protocol, runs) => {
  const outputOf = (title: string, extension: 'csv' | 'json') =>
    inWork(`${protocol}-${runs.findIndex((run) => run.title === title)}.${extension}`);

  test.each(runs)('$title: a report with figures of both sides', ({ title, levels = 1 }) => {
    const report = reportOf(`${protocol}, ${title}`);
    expect(report.text).not.toMatch(/fail|error/i);
    expect(report.exitCode).toBe(0);
    expect(report.levels).toHaveLength(levels);
    for (const { client, server } of report.levels) {
      expect(Number(client.get('Request count'))).toBeGreaterThan(0);
      expect(client.get('Throughput')).toMatch(/^[1-9][\d.]* infer\/sec$/);
      for (const quantile of ['p50', 'p90', 'p95', 'p99'])
        expect(client.get(`${quantile} latency`)).toMatch(/^\d+ usec$/);
      for (const name of ['Inference count', 'Execution count', 'Successful request count'])
        expect(Number(server.get(name))).toBeGreaterThan(0);
      expect(server.get('Avg request latency')).toMatch(LATENCY);
    }
  });

  test.each(runs)('$title: a row of figures for each level of load', ({ title, args, levels = 1 }) => {
    const rows = csvRows(outputOf(title, 'csv'));
    expect(rows).toHaveLength(levels);
    const first = /--request-(rate|intervals)/.test(args) ? 'Request Rate' : 'Concurrency';
    for (const row of rows) {
      const names = [...row.keys()];
      expect(names.filter((name) => name !== 'Response Throughput').slice(0, 13)).toEqual([first, ...COLUMNS]);
      for (const name of COLUMNS) expect(row.get(name)).toMatch(/^\d+(\.\d+)?$/);
      expect(Number(row.get('p50 latency'))).toBeLessThanOrEqual(Number(row.get('p99 latency')));
      expect(Number(row.get('Server Compute Infer'))).toBeGreaterThan(0);
    }
  });

  test.each(runs)('$title: a profile in which every request is answered', ({ title, args, levels = 1 }) => {
    const { experiments } = profileAt(outputOf(title, 'json'));
    expect(experiments).toHaveLength(levels);
    const answers = args.includes('-m tokens') ? 5 : 1;
    for (const { requests } of experiments) {
      expect(requests.length).toBeGreaterThan(0);
      for (const { timestamp, response_timestamps, sequence_id } of requests) {
        expect(response_timestamps).toHaveLength(answers);
        expect(response_timestamps[0]).toBeGreaterThanOrEqual(timestamp);
        if (args.includes('-m sum')) expect(sequence_id).toBeGreaterThan(0);
      }
    }
  });
});

test('metrics are read as often as asked, and stand in columns of their own', () => {
  const { levels, text } = reportOf(`http, ${HTTP[0]?.title}`);
  expect(text).toContain('Server Prometheus Metrics:');
  expect(levels).toHaveLength(2);
  const [row] = csvRows(inWork('http-0.csv'));
  expect([...(row?.keys() ?? [])].slice(13)).toEqual([
    'Avg latency',
    'request/response',
    'response wait',
    'Avg GPU Utilization',
    'Avg GPU Power Usage',
    'Max GPU Memory Usage',
    'Total GPU Memory',
  ]);
});

test('the load of a decoupled model grows with its responses', () => {
  const { exitCode } = reportOf('growing');
  expect(exitCode).toBe(0);
  const [experiment] = profileAt(inWork('growing.json')).experiments;
  expect(experiment?.requests.length).toBeGreaterThanOrEqual(3);
});

test.each([
  ['a request that fails', 'failing', /told to fail/],
  ['a result other than the one expected', 'wrong', /./],
])('%s ends the run with 99', (_, key, message) => {
  const { exitCode, text } = reportOf(key);
  expect(exitCode).toBe(99);
  expect(text).toMatch(message);
});

test('the server counts what the tool sent, to the last request', async () => {
  const { model_stats } = (await (await fetch(`${server.url}/v2/models/counted/stats`)).json()) as {
    model_stats: readonly { inference_stats: { success: { count: number }; fail: { count: number } } }[];
  };
  expect(model_stats[0]?.inference_stats.success.count).toBe(60 * countedRuns);
  expect(model_stats[0]?.inference_stats.fail.count).toBe(0);
});

test('traces that the tool asks for are written', () => {
  const traces = readdirSync(work).filter((name) => name.startsWith('trace'));
  expect(traces.length).toBeGreaterThan(0);
});
