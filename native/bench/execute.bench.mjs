/**
 * What one small batch costs: a 64→128→10 MLP compiled by AOTInductor, called on the loop thread and through an instance thread with 1, 8 and 32 batches under way.
 *
 *   node native/bench/execute.bench.mjs [--rounds N] [--calls N] [--json FILE]
 *
 * wall: time per batch. loop: CPU time of the loop thread per batch: the crossing and its share of a wake-up (for `sync` also the model). total: CPU time of the process
 * per batch. `burst` is the crossing alone: many batches are submitted, the loop stands still until all are done, and one wake-up delivers them.
 * Each is the median of the rounds with the range; modes take turns, so that a disturbance hits all of them.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { buildInfo, loadAoti } from '@nereid/native';

const MODEL = new URL('../../.cache/models/native_aoti/mlp.pt2', import.meta.url);
const TYPE_FP32 = 11;
const FEATURES = 64;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    calls: { type: 'string', default: '30000' },
    json: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const calls = Number(values.calls);

if (!existsSync(MODEL)) throw new Error('the model is missing: python3 scripts/export_models.py native_aoti');

const batch = {
  buffers: [new Uint8Array(Float32Array.from({ length: FEATURES }, (_, i) => i / FEATURES).buffer)],
  rows: [1],
  shapes: [2, 1, FEATURES],
};

/** Nanoseconds that this thread has been on a processor; only Linux tells. */
function threadCpuNs() {
  const file = '/proc/thread-self/schedstat';
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split(' ')[0]) : Number.NaN;
}

async function measure(run) {
  const before = { wall: performance.now(), loop: threadCpuNs(), total: process.cpuUsage() };
  await run();
  const total = process.cpuUsage(before.total);
  return {
    wallUs: ((performance.now() - before.wall) * 1000) / calls,
    loopUs: (threadCpuNs() - before.loop) / 1000 / calls,
    totalUs: (total.user + total.system) / calls,
  };
}

function summary(samples, key) {
  const sorted = samples.map((sample) => sample[key]).sort((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)], min: sorted[0], max: sorted.at(-1) };
}

const loaded = await loadAoti({ path: MODEL.pathname, modelName: 'model', numRunners: 1, device: -1 });
let left = 0;
let underWay = 0;
let finish = () => {};
const instance = loaded.createInstance({
  name: 'bench',
  intraOpThreads: 1,
  inferenceMode: true,
  optimizedExecution: true,
  batching: true,
  inputs: [{ datatype: TYPE_FP32, key: '' }],
  outputs: [{ index: 0, key: '' }],
  onComplete: (error) => {
    if (error) throw error;
    underWay--;
    submit();
    if (underWay === 0) finish();
  },
});

function submit() {
  if (left === 0) return;
  left--;
  underWay++;
  instance.execute(batch);
}

const modes = [
  {
    name: 'sync',
    run: () => {
      for (let i = 0; i < calls; i++) instance.executeSync(batch);
    },
  },
  ...[1, 8, 32].map((concurrency) => ({
    name: `async ${concurrency}`,
    run: () =>
      new Promise((resolve) => {
        finish = resolve;
        left = calls;
        for (let i = 0; i < concurrency; i++) submit();
      }),
  })),
];

const BURST = 1000;
const nobody = new Int32Array(new SharedArrayBuffer(4));

modes.push({
  name: 'burst',
  run: async () => {
    for (let done = 0; done < calls; done += BURST) {
      const delivered = new Promise((resolve) => {
        finish = resolve;
      });
      left = BURST;
      while (left > 0) submit();
      Atomics.wait(nobody, 0, 0, BURST / 10);
      await delivered;
    }
  },
});

for (const mode of modes) await mode.run();
const samples = new Map(modes.map(({ name }) => [name, []]));
for (let round = 0; round < rounds; round++) {
  for (const mode of modes) samples.get(mode.name).push(await measure(mode.run));
}
await instance.close();
await loaded.close();

const results = modes.map(({ name }) => {
  const of = (key) => summary(samples.get(name), key);
  return { mode: name, wallUs: of('wallUs'), loopUs: of('loopUs'), totalUs: of('totalUs') };
});
const show = ({ median, min, max }) => `${median.toFixed(1)} (${min.toFixed(1)}–${max.toFixed(1)})`;
console.table(
  results.map((row) => ({
    mode: row.mode,
    'wall µs': show(row.wallUs),
    'loop µs': show(row.loopUs),
    'total µs': show(row.totalUs),
  })),
);
const report = {
  date: new Date().toISOString(),
  node: process.version,
  build: buildInfo(),
  cpu: cpus()[0]?.model,
  rounds,
  calls,
  results,
};
if (values.json) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
else console.log(JSON.stringify(report));
