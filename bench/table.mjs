/**
 * The table in one run: small requests to the example MLP over HTTP and gRPC at 1, 16 and 64 at a time, each as a ratio to the addon called from a loop.
 *
 * usage: node bench/table.mjs [--rounds N] [--seconds S]
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { cpuMicros, measure, serve } from './src/server.mjs';
import { repository } from './src/workload.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '2' } },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const run = promisify(execFile);
const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const CONCURRENCIES = [1, 16, 64];

async function measureGrpc({ grpcUrl, pid }, calls) {
  const before = cpuMicros(pid);
  const args = [here('src/grpc-load.mjs'), grpcUrl, '1', String(calls), String(seconds), 'unary'];
  const result = JSON.parse((await run(process.execPath, args)).stdout);
  return { ...result, cpuPerRequest: (cpuMicros(pid) - before) / (result.requestsPerSecond * seconds) };
}

/** Calls per second of the addon without a server, by the number in flight. */
async function addonLoop() {
  const { stdout } = await run(process.execPath, [here('src/addon-loop.mjs'), String(seconds)]);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return new Map(lines.map(({ depth, callsPerSecond }) => [depth, callsPerSecond]));
}

const server = await serve(repository);
const ways = {
  http: (concurrency) => measure(server, { connections: concurrency, seconds }),
  grpc: (concurrency) => measureGrpc(server, concurrency),
};
const loads = Object.keys(ways).flatMap((way) =>
  CONCURRENCIES.map((concurrency) => ({ way, concurrency, results: [] })),
);
try {
  for (const { way, concurrency } of loads) await ways[way](concurrency);
  for (let round = 0; round < rounds; round++)
    for (const { way, concurrency, results } of loads) results.push(await ways[way](concurrency));
} finally {
  server.stop();
}
const direct = await addonLoop();
console.table(
  loads.map(({ way, concurrency, results }) => {
    const of = (name) => median(results.map((result) => result[name]));
    return {
      protocol: way,
      concurrency,
      'requests/s': of('requestsPerSecond'),
      'p50 us': of('p50'),
      'p99 us': of('p99'),
      'cpu us': Math.round(of('cpuPerRequest')),
      'addon calls/s': direct.get(concurrency),
      'to addon loop': Number((of('requestsPerSecond') / direct.get(concurrency)).toFixed(3)),
      failures: results.reduce((sum, { failures }) => sum + failures, 0),
    };
  }),
);
