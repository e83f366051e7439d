/**
 * The example MLP over HTTP in alternating rounds of one run: Nereid as the example is configured (`dynamic_batching { }`), Nereid with one
 * request per execution, and the least a Node.js server can do.
 *
 * usage: node bench/http.mjs [--rounds N] [--seconds S] [--json FILE]
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { measure, serve, start } from './src/server.mjs';
import { repository } from './src/workload.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    json: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const CONNECTIONS = [1, 16, 64];
const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const run = promisify(execFile);

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

/** The example without dynamic batching, in a repository of its own. */
function singleRepository() {
  const path = mkdtempSync(join(tmpdir(), 'nereid-bench-'));
  cpSync(join(repository, 'mlp'), join(path, 'mlp'), { recursive: true });
  const config = join(path, 'mlp', 'config.pbtxt');
  writeFileSync(config, readFileSync(config, 'utf8').replace('dynamic_batching { }', ''));
  return path;
}

const single = singleRepository();
const servers = {
  nereid: await serve(repository),
  single: await serve(single),
  bare: await start([here('src/bare-server.mjs')]),
};
const names = Object.keys(servers);

const measured = new Map(CONNECTIONS.map((connections) => [connections, { nereid: [], single: [], bare: [] }]));
try {
  for (const server of Object.values(servers))
    for (const connections of CONNECTIONS) await measure(server, { connections, seconds: 1 });
  for (let round = 0; round < rounds; round++) {
    for (const [connections, results] of measured) {
      // Who goes first changes, so that nobody always meets the warmer machine.
      const order = names.map((_, i) => names[(i + round) % names.length]);
      for (const name of order) results[name].push(await measure(servers[name], { connections, seconds }));
    }
  }
} finally {
  for (const { stop } of Object.values(servers)) stop();
  rmSync(single, { recursive: true });
}

const loop = (await run(process.execPath, [here('src/addon-loop.mjs'), String(seconds)])).stdout
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
const loopAt = (connections) => loop.find(({ depth }) => depth === connections).callsPerSecond;

const rows = [...measured].flatMap(([connections, { bare, ...ours }]) =>
  Object.entries(ours).map(([name, results]) => {
    const ratios = results.map((result, round) => result.requestsPerSecond / bare[round].requestsPerSecond);
    const rate = median(results.map((result) => result.requestsPerSecond));
    return {
      connections,
      server: name === 'single' ? 'nereid, one request per execution' : name,
      'requests/s': rate,
      'p50 us': median(results.map((result) => result.p50)),
      'p99 us': median(results.map((result) => result.p99)),
      'cpu us': Math.round(median(results.map((result) => result.cpuPerRequest))),
      'bare requests/s': median(bare.map((result) => result.requestsPerSecond)),
      'bare cpu us': Math.round(median(bare.map((result) => result.cpuPerRequest))),
      'to bare': Number(median(ratios).toFixed(3)),
      range: `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`,
      'to addon loop': Number((rate / loopAt(connections)).toFixed(3)),
      failures: [...results, ...bare].reduce((sum, { failures }) => sum + failures, 0),
    };
  }),
);
console.table(rows);
console.table(loop);
if (values.json) {
  const raw = Object.fromEntries(measured);
  writeFileSync(values.json, `${JSON.stringify({ rounds, seconds, rows, loop, measured: raw }, undefined, 2)}\n`);
}
