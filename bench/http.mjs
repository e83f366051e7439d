/**
 * The example MLP over HTTP, Nereid beside the least a Node.js server can do, in alternating rounds of one run.
 *
 * usage: node bench/http.mjs [--rounds N] [--seconds S] [--json FILE]
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
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

const servers = { nereid: await serve(repository), bare: await start([here('src/bare-server.mjs')]) };

const perConnections = () => Object.fromEntries(CONNECTIONS.map((connections) => [connections, []]));
const measured = { nereid: perConnections(), bare: perConnections() };
try {
  for (const server of Object.values(servers))
    for (const connections of CONNECTIONS) await measure(server, { connections, seconds: 1 });
  for (let round = 0; round < rounds; round++) {
    for (const connections of CONNECTIONS) {
      // Who goes first alternates, so that neither always meets the warmer machine.
      const order = round % 2 === 0 ? ['nereid', 'bare'] : ['bare', 'nereid'];
      for (const name of order)
        measured[name][connections].push(await measure(servers[name], { connections, seconds }));
    }
  }
} finally {
  for (const { stop } of Object.values(servers)) stop();
}

const loop = (await run(process.execPath, [here('src/addon-loop.mjs'), String(seconds)])).stdout
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
const loopAt = (connections) => loop.find(({ depth }) => depth === connections).callsPerSecond;

const rows = CONNECTIONS.map((connections) => {
  const [ours, bare] = [measured.nereid[connections], measured.bare[connections]];
  const ratios = ours.map((result, round) => result.requestsPerSecond / bare[round].requestsPerSecond);
  const rate = median(ours.map((result) => result.requestsPerSecond));
  return {
    connections,
    'requests/s': rate,
    'p50 us': median(ours.map((result) => result.p50)),
    'p99 us': median(ours.map((result) => result.p99)),
    'bare requests/s': median(bare.map((result) => result.requestsPerSecond)),
    'ratio to bare': Number(median(ratios).toFixed(3)),
    'ratio range': `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`,
    'cpu us/request': Math.round(median(ours.map((result) => result.cpuPerRequest))),
    'bare cpu us/request': Math.round(median(bare.map((result) => result.cpuPerRequest))),
    'ratio to addon loop': Number((rate / loopAt(connections)).toFixed(3)),
    failures: [...ours, ...bare].reduce((sum, { failures }) => sum + failures, 0),
  };
});
console.table(rows);
console.table(loop);
if (values.json)
  writeFileSync(values.json, `${JSON.stringify({ rounds, seconds, rows, loop, measured }, undefined, 2)}\n`);
