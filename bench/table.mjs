/**
 * The table in one run, as Markdown: small requests to the example MLP over HTTP and gRPC at 1, 16 and 64 at a time, and tensors of 1 and 16 MB to a model that
 * adds them to themselves, each as a ratio to the addon called from a loop in the same round.
 *
 * usage: node bench/table.mjs [--rounds N] [--seconds S] [--json FILE]      before: npm run setup
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { measure, measureGrpc, serve } from './src/server.mjs';
import { doubleFile, repository, root } from './src/workload.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const run = promisify(execFile);
const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

const MEGABYTE = 1_000_000;
/** What is sent, and how many requests at a time. */
const WORKS = [
  { title: 'MLP, 256 B in, 40 B out', tensorBytes: 0, depths: [1, 16, 64] },
  { title: '1 MB in and out', tensorBytes: MEGABYTE, depths: [1, 4] },
  { title: '16 MB in and out', tensorBytes: 16 * MEGABYTE, depths: [1, 4] },
];
const WAYS = {
  HTTP: (server, { depth, ...load }) => measure(server, { ...load, connections: depth }),
  gRPC: (server, { depth, ...load }) => measureGrpc(server, { ...load, connections: 1, calls: depth }),
};

/** A repository with the model for large tensors, which is exported where it is not there yet. */
async function largeRepository() {
  await run('python3', [join(root, 'scripts', 'export_models.py'), 'native_torchscript']);
  const directory = mkdtempSync(join(tmpdir(), 'nereid-bench-'));
  mkdirSync(join(directory, 'double', '1'), { recursive: true });
  cpSync(doubleFile, join(directory, 'double', '1', 'model.pt'));
  const config = [
    'backend: "pytorch" platform: "pytorch_libtorch"',
    'input [ { name: "x" data_type: TYPE_FP32 dims: [ -1 ] } ]',
    'output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ -1 ] } ]',
    'parameters { key: "INTRA_OP_THREAD_COUNT" value { string_value: "1" } }',
  ];
  writeFileSync(join(directory, 'double', 'config.pbtxt'), config.join('\n'));
  return directory;
}

/** Calls per second of the addon without a server, by the number in flight. */
async function addonLoop({ tensorBytes, depths }) {
  const args = [here('src/addon-loop.mjs'), seconds, tensorBytes, depths.join(',')].map(String);
  const lines = (await run(process.execPath, args)).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return new Map(lines.map(({ depth, callsPerSecond }) => [depth, callsPerSecond]));
}

const large = await largeRepository();
const server = await serve(repository, ['--model-repository', large]);
const loads = WORKS.flatMap((work) =>
  work.depths.flatMap((depth) => Object.keys(WAYS).map((way) => ({ work, depth, way, results: [] }))),
);
const measureLoad = ({ work: { tensorBytes }, depth, way }) => WAYS[way](server, { tensorBytes, depth, seconds });
try {
  for (const load of loads) await measureLoad(load);
  for (let round = 0; round < rounds; round++) {
    const direct = new Map();
    for (const work of WORKS) direct.set(work, await addonLoop(work));
    // Who goes first changes, so that nobody always meets the warmer machine.
    for (const load of round % 2 === 0 ? loads : loads.toReversed()) {
      const result = await measureLoad(load);
      const calls = direct.get(load.work).get(load.depth);
      load.results.push({ ...result, calls, toAddon: result.requestsPerSecond / calls });
    }
  }
} finally {
  server.stop();
  rmSync(large, { recursive: true });
}

const rows = loads.map(({ work, depth, way, results }) => {
  const of = (name) => median(results.map((result) => result[name]));
  const ratios = results.map(({ toAddon }) => toAddon);
  const megabytes = (perSecond) =>
    work.tensorBytes === 0 ? '' : Math.round((perSecond * work.tensorBytes) / MEGABYTE);
  return {
    load: work.title,
    'at a time': depth,
    protocol: way,
    'requests/s': Math.round(of('requestsPerSecond')),
    'MB/s each way': megabytes(of('requestsPerSecond')),
    'p50 µs': of('p50'),
    'p99 µs': of('p99'),
    'server CPU µs': Math.round(of('cpuPerRequest')),
    'generator CPU µs': of('generatorCpu'),
    'addon calls/s': of('calls'),
    'to addon': median(ratios).toFixed(3),
    range: `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
    failures: results.reduce((sum, { failures }) => sum + failures, 0),
  };
});
const columns = Object.keys(rows[0]);
const line = (cells) => `| ${cells.join(' | ')} |`;
console.log(line(columns));
console.log(line(columns.map(() => '---')));
for (const row of rows) console.log(line(Object.values(row)));
if (values.json) {
  const measured = loads.map(({ work, depth, way, results }) => ({ load: work.title, depth, way, results }));
  writeFileSync(values.json, `${JSON.stringify({ rounds, seconds, rows, measured }, undefined, 2)}\n`);
}
