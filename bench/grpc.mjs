/**
 * The example MLP over gRPC in alternating rounds of one run: Nereid, the usual grpc-js server that calls the addon, and Nereid's own HTTP.
 *
 * usage: node bench/grpc.mjs [--rounds N] [--seconds S] [--json FILE]
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measure, measureGrpc, serve, start } from './src/server.mjs';
import { repository } from './src/workload.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    json: { type: 'string' },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

const LOADS = [
  { connections: 1, calls: 1 },
  { connections: 1, calls: 16 },
  { connections: 4, calls: 16 },
  { connections: 16, calls: 1 },
  { connections: 1, calls: 16, kind: 'stream' },
];

const nereid = await serve(repository);
const bare = await start([here('src/grpc-js-server.mjs')]);
const ways = {
  nereid: (load) => measureGrpc(nereid, { ...load, seconds }),
  'grpc-js': (load) => measureGrpc({ ...bare, grpcUrl: bare.url }, { ...load, seconds }),
  http: ({ connections, calls }) => measure(nereid, { connections: connections * calls, seconds }),
};
const names = Object.keys(ways);
const measured = new Map(LOADS.map((load) => [load, Object.fromEntries(names.map((name) => [name, []]))]));
try {
  for (const load of LOADS) for (const name of names) await ways[name](load);
  for (let round = 0; round < rounds; round++) {
    for (const [load, results] of measured) {
      // Who goes first changes, so that nobody always meets the warmer machine.
      for (const name of names.map((_, i) => names[(i + round) % names.length]))
        results[name].push(await ways[name](load));
    }
  }
} finally {
  nereid.stop();
  bare.stop();
}

const rows = [...measured].map(([{ connections, calls, kind = 'unary' }, results]) => {
  const rate = (name) => median(results[name].map((result) => result.requestsPerSecond));
  const cpu = (name) => Math.round(median(results[name].map((result) => result.cpuPerRequest)));
  const ratio = (name) =>
    Number(
      median(results.nereid.map((result, i) => result.requestsPerSecond / results[name][i].requestsPerSecond)).toFixed(
        3,
      ),
    );
  return {
    load: `${kind} ${connections} x ${calls}`,
    'requests/s': rate('nereid'),
    'p50 us': median(results.nereid.map((result) => result.p50)),
    'p99 us': median(results.nereid.map((result) => result.p99)),
    'cpu us': cpu('nereid'),
    'grpc-js requests/s': rate('grpc-js'),
    'grpc-js cpu us': cpu('grpc-js'),
    'http requests/s': rate('http'),
    'http cpu us': cpu('http'),
    'to grpc-js': ratio('grpc-js'),
    'to own HTTP': ratio('http'),
    failures: names.reduce((sum, name) => sum + results[name].reduce((all, { failures }) => all + failures, 0), 0),
  };
});
console.table(rows);
if (values.json) writeFileSync(values.json, `${JSON.stringify({ rounds, seconds, rows }, undefined, 2)}\n`);
