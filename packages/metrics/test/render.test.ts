import { describe, expect, it, test } from 'vitest';
import { renderMetrics } from '../src/index.ts';
import { engineOf, statisticsOf, textOf } from './fixture.ts';

const MODEL_FAMILIES = [
  'nv_inference_request_success counter',
  'nv_inference_request_failure counter',
  'nv_inference_count counter',
  'nv_inference_exec_count counter',
  'nv_inference_request_duration_us counter',
  'nv_inference_queue_duration_us counter',
  'nv_inference_compute_input_duration_us counter',
  'nv_inference_compute_infer_duration_us counter',
  'nv_inference_compute_output_duration_us counter',
  'nv_inference_pending_request_count gauge',
  'nv_model_load_duration_secs gauge',
  'nereid_executing_request_count gauge',
  'nereid_instance_batches gauge',
  'nereid_batches_total counter',
  'nereid_batches_closed_total counter',
];
const PROCESS_FAMILIES = [
  'nv_pinned_memory_pool_total_bytes gauge',
  'nv_pinned_memory_pool_used_bytes gauge',
  'nv_cpu_utilization gauge',
  'nv_cpu_memory_total_bytes gauge',
  'nv_cpu_memory_used_bytes gauge',
  'nereid_event_loop_delay_seconds histogram',
  'nereid_external_memory_bytes gauge',
];

const SAMPLE = {
  cpuUtilization: 0.25,
  memoryTotalBytes: 8000,
  memoryUsedBytes: 3000,
  externalMemoryBytes: 70,
  eventLoopDelay: { buckets: [{ bound: 0.001, count: 7 }], count: 9, sum: 1e-7 },
};

const lines = (text: string) => text.trimEnd().split('\n');
const seriesOf = (text: string) => lines(text).filter((line) => !line.startsWith('#'));
const typesOf = (text: string) =>
  lines(text).flatMap((line) => (line.startsWith('# TYPE ') ? [line.slice('# TYPE '.length)] : []));

test('without models every family is announced, each with one line of help, and has no series', async () => {
  const text = await textOf(engineOf());
  expect(typesOf(text)).toEqual(MODEL_FAMILIES);
  expect(lines(text).filter((line) => /^# HELP \w+ [^\\]+$/.test(line))).toHaveLength(MODEL_FAMILIES.length);
  expect(seriesOf(text)).toEqual([]);
  expect(text.endsWith('\n')).toBe(true);
});

test('a version that was never asked has every series but those of its instances and batches, all 0', async () => {
  const series = seriesOf(await textOf(engineOf(statisticsOf())));
  const plain = 'model="m",version="1"';
  const failures = ['REJECTED', 'CANCELED', 'BACKEND', 'OTHER'];
  expect(series).toEqual([
    `nv_inference_request_success{${plain}} 0`,
    ...failures.map((reason) => `nv_inference_request_failure{model="m",reason="${reason}",version="1"} 0`),
    ...MODEL_FAMILIES.slice(2, -3).map((family) => `${family.split(' ')[0]}{${plain}} 0`),
  ]);
});

test('counters show the statistics, times in whole microseconds', async () => {
  const text = await textOf(
    engineOf(
      statisticsOf({
        inferenceCount: 30,
        executionCount: 4,
        pending: 3,
        executing: 2,
        instances: [
          { name: 'm_0_0', batches: 2 },
          { name: 'm_0_1', batches: 0 },
        ],
        loadSeconds: 1.25,
        success: { count: 10, ns: 9_999_999 },
        queue: { count: 10, ns: 1000 },
        computeInput: { count: 10, ns: 999 },
        computeInfer: { count: 10, ns: 5_000_500 },
        computeOutput: { count: 10, ns: 0 },
        fail: { count: 10, ns: 1 },
        failures: { REJECTED: 1, CANCELED: 2, BACKEND: 3, OTHER: 4 },
      }),
    ),
  );
  const labels = '{model="m",version="1"}';
  expect(seriesOf(text)).toEqual([
    `nv_inference_request_success${labels} 10`,
    'nv_inference_request_failure{model="m",reason="REJECTED",version="1"} 1',
    'nv_inference_request_failure{model="m",reason="CANCELED",version="1"} 2',
    'nv_inference_request_failure{model="m",reason="BACKEND",version="1"} 3',
    'nv_inference_request_failure{model="m",reason="OTHER",version="1"} 4',
    `nv_inference_count${labels} 30`,
    `nv_inference_exec_count${labels} 4`,
    `nv_inference_request_duration_us${labels} 9999`,
    `nv_inference_queue_duration_us${labels} 1`,
    `nv_inference_compute_input_duration_us${labels} 0`,
    `nv_inference_compute_infer_duration_us${labels} 5000`,
    `nv_inference_compute_output_duration_us${labels} 0`,
    `nv_inference_pending_request_count${labels} 3`,
    `nv_model_load_duration_secs${labels} 1.25`,
    `nereid_executing_request_count${labels} 2`,
    'nereid_instance_batches{instance="m_0_0",model="m",version="1"} 2',
    'nereid_instance_batches{instance="m_0_1",model="m",version="1"} 0',
  ]);
});

test('batches are counted by their size and by the reason why they were closed', async () => {
  const closed = {
    'preferred-size': 1,
    full: 2,
    'shape-change': 0,
    'custom-strategy': 0,
    delay: 3,
    'instance-idle': 0,
    'double-buffering': 0,
    timeout: 0,
    stopping: 0,
  };
  const sizes = [
    { batchSize: 1, count: 4 },
    { batchSize: 8, count: 2 },
  ];
  const series = seriesOf(await textOf(engineOf(statisticsOf({ batching: { sizes, closed } }))));
  expect(series.filter((line) => line.startsWith('nereid_batches'))).toEqual([
    'nereid_batches_total{batch_size="1",model="m",version="1"} 4',
    'nereid_batches_total{batch_size="8",model="m",version="1"} 2',
    ...Object.entries(closed).map(
      ([reason, count]) => `nereid_batches_closed_total{model="m",reason="${reason}",version="1"} ${count}`,
    ),
  ]);
});

describe('labels', () => {
  it.each([
    ['a backslash', 'a\\b', 'a\\\\b'],
    ['a quote', 'a"b', 'a\\"b'],
    ['a line feed', 'a\nb', 'a\\nb'],
    ['all of them', '\\n"\n', '\\\\n\\"\\n'],
    ['letters outside ASCII', 'é日', 'é日'],
    ['nothing', '', ''],
  ])('%s in a value is escaped', async (_, name, escaped) => {
    const [first] = seriesOf(await textOf(engineOf(statisticsOf({ name }))));
    expect(first).toBe(`nv_inference_request_success{model="${escaped}",version="1"} 0`);
  });

  it.each<[tags: [string, string][], labels: string]>([
    [[], 'model="m",version="1"'],
    [[['team', 'search']], '_team="search",model="m",version="1"'],
    [
      [
        ['b', '2'],
        ['a', '1'],
      ],
      '_a="1",_b="2",model="m",version="1"',
    ],
    [[['model', 'mine']], '_model="mine",model="m",version="1"'],
    [[['cost centre/2', 'x']], '_cost_centre_2="x",model="m",version="1"'],
    [
      [
        ['a-b', '1'],
        ['a.b', '2'],
      ],
      '_a_b="2",model="m",version="1"',
    ],
  ])('tags %j of a configuration are labels of every series, with a line before their names', async (tags, labels) => {
    const series = seriesOf(await textOf(engineOf(statisticsOf({ metricTags: new Map(tags) }))));
    expect(series[0]).toBe(`nv_inference_request_success{${labels}} 0`);
    for (const line of series) expect(line.replace(/reason="\w+",/, '')).toContain(`{${labels}}`);
  });
});

test('a sample of the process adds its families; numbers are written as they are', async () => {
  const text = await textOf(engineOf(), { sample: SAMPLE });
  expect(typesOf(text)).toEqual([...MODEL_FAMILIES, ...PROCESS_FAMILIES]);
  expect(seriesOf(text)).toEqual([
    'nv_pinned_memory_pool_total_bytes 0',
    'nv_pinned_memory_pool_used_bytes 0',
    'nv_cpu_utilization 0.25',
    'nv_cpu_memory_total_bytes 8000',
    'nv_cpu_memory_used_bytes 3000',
    'nereid_event_loop_delay_seconds_bucket{le="0.001"} 7',
    'nereid_event_loop_delay_seconds_bucket{le="+Inf"} 9',
    'nereid_event_loop_delay_seconds_sum 1e-7',
    'nereid_event_loop_delay_seconds_count 9',
    'nereid_external_memory_bytes 70',
  ]);
});

test('what is not known of the machine has no series', async () => {
  const series = seriesOf(await textOf(engineOf(), { sample: { ...SAMPLE, cpuUtilization: undefined } }));
  expect(series.filter((line) => line.startsWith('nv_cpu_utilization'))).toEqual([]);
});

test('families of the CPU and counters of durations are left out on request, and no others', async () => {
  const types = typesOf(await textOf(engineOf(), { sample: SAMPLE, cpu: false, counterLatencies: false }));
  const left = [...MODEL_FAMILIES, ...PROCESS_FAMILIES].filter((family) => !/nv_cpu_|_duration_us/.test(family));
  expect(types).toEqual(left);
});

test('a histogram has its buckets, the sum and the count, of the versions that measure', async () => {
  const firstResponseMs = {
    buckets: [
      { bound: 0.5, count: 1 },
      { bound: 100, count: 3 },
    ],
    count: 4,
    sum: 777,
  };
  const text = await textOf(
    engineOf(statisticsOf({ metricTags: new Map([['team', 'a']]), firstResponseMs }), statisticsOf({ name: 'other' })),
  );
  const name = 'nv_inference_first_response_histogram_ms';
  expect(typesOf(text)).toContain(`${name} histogram`);
  expect(seriesOf(text).filter((line) => line.startsWith(name))).toEqual([
    `${name}_bucket{_team="a",le="0.5",model="m",version="1"} 1`,
    `${name}_bucket{_team="a",le="100",model="m",version="1"} 3`,
    `${name}_bucket{_team="a",le="+Inf",model="m",version="1"} 4`,
    `${name}_sum{_team="a",model="m",version="1"} 777`,
    `${name}_count{_team="a",model="m",version="1"} 4`,
  ]);
});

test('a summary has its quantiles, the sum and the count, of the versions that summarize', async () => {
  const empty = { count: 0, sum: 0, quantiles: [{ quantile: 0.5, value: Number.NaN }] };
  const quantiles = [
    { quantile: 0.5, value: 120 },
    { quantile: 0.999, value: 4000 },
  ];
  const request = { count: 4, sum: 4360, quantiles };
  const latencyMicros = { request, queue: empty, computeInput: empty, computeInfer: empty, computeOutput: empty };
  const text = await textOf(
    engineOf(statisticsOf({ metricTags: new Map([['team', 'a']]), latencyMicros }), statisticsOf({ name: 'other' })),
  );
  const summaries = typesOf(text).filter((line) => line.endsWith('summary'));
  const names = ['request', 'queue', 'compute_input', 'compute_infer', 'compute_output'];
  expect(summaries).toEqual(names.map((name) => `nv_inference_${name}_summary_us summary`));
  const seriesOfSummary = (name: string) =>
    seriesOf(text).filter((line) => line.startsWith(`nv_inference_${name}_summary_us`));
  const labels = '_team="a",model="m"';
  expect(seriesOfSummary('request')).toEqual([
    `nv_inference_request_summary_us{${labels},quantile="0.5",version="1"} 120`,
    `nv_inference_request_summary_us{${labels},quantile="0.999",version="1"} 4000`,
    `nv_inference_request_summary_us_sum{${labels},version="1"} 4360`,
    `nv_inference_request_summary_us_count{${labels},version="1"} 4`,
  ]);
  expect(seriesOfSummary('queue')[0]).toBe(`nv_inference_queue_summary_us{${labels},quantile="0.5",version="1"} NaN`);
});

describe('between two turns of the event loop', () => {
  const models = (count: number) =>
    Array.from({ length: count }, (_, i) => statisticsOf({ name: `model_${String(i).padStart(4, '0')}` }));

  /** What was read, and what was told, in each turn. */
  async function turnsOf(count: number) {
    const turns = [{ versions: 0, characters: 0 }];
    const turn = () => turns.at(-1) as { versions: number; characters: number };
    function* eachStatistics() {
      for (const model of models(count)) {
        turn().versions++;
        yield model;
      }
    }
    const nextTurn = async () => void turns.push({ versions: 0, characters: 0 });
    let text = '';
    for await (const piece of renderMetrics({ eachStatistics }, { nextTurn })) {
      turn().characters += piece.length;
      text += piece;
    }
    return { turns, text };
  }

  it('some versions are read and some of the text is told, however many there are', async () => {
    const { turns, text } = await turnsOf(1000);
    expect(turns.reduce((sum, { versions }) => sum + versions, 0)).toBe(1000);
    expect(turns.reduce((sum, { characters }) => sum + characters, 0)).toBe(text.length);
    for (const { versions, characters } of turns) {
      expect(versions).toBeLessThan(40);
      expect(characters).toBeLessThan(80_000);
    }
  });

  it('nothing is lost or out of order: series of a family stand together, by model', async () => {
    const { text } = await turnsOf(1000);
    const names = seriesOf(text).map((line) => line.slice(0, line.indexOf('{')));
    const families = names.filter((name, i) => name !== names[i - 1]);
    expect(families).toEqual([...new Set(families)]);
    const success = seriesOf(text).filter((line) => line.startsWith('nv_inference_request_success{'));
    expect(success).toEqual(
      models(1000).map(({ name }) => `nv_inference_request_success{model="${name}",version="1"} 0`),
    );
  });

  it('the loop is given to others', async () => {
    let others = 0;
    const count = () => {
      others++;
      if (!isOver) setImmediate(count);
    };
    let isOver = false;
    setImmediate(count);
    await textOf(engineOf(...models(200)));
    isOver = true;
    expect(others).toBeGreaterThan(3);
  });
});
