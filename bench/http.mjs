/**
 * The example MLP over HTTP, Nereid beside the least a Node.js server can do, in alternating rounds of one run.
 *
 * usage: node bench/http.mjs [--rounds N] [--seconds S] [--json FILE]
 */
import { execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
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

/** Starts a server process; resolves with its URL and a way to end it. */
async function start(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/[\w.:]+/.exec(line)?.[0];
    if (url) {
      child.stdout.resume();
      return { url, pid: child.pid, stop: () => child.kill('SIGTERM') };
    }
  }
  throw new Error(`${args.join(' ')} did not start`);
}

const load = async (url, connections, time) =>
  JSON.parse((await run(process.execPath, [here('src/load.mjs'), url, String(connections), String(time)])).stdout);

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

const servers = {
  nereid: await start([
    here('../apps/cli/bin/nereid.js'),
    'serve',
    '--model-repository',
    repository,
    '--http-port',
    '0',
    '--log-format',
    'default',
  ]),
  bare: await start([here('src/bare-server.mjs')]),
};

const perConnections = () => Object.fromEntries(CONNECTIONS.map((connections) => [connections, []]));
const measured = { nereid: perConnections(), bare: perConnections() };
try {
  for (const { url } of Object.values(servers)) for (const connections of CONNECTIONS) await load(url, connections, 1);
  for (let round = 0; round < rounds; round++) {
    for (const connections of CONNECTIONS) {
      // Who goes first alternates, so that neither always meets the warmer machine.
      const order = round % 2 === 0 ? ['nereid', 'bare'] : ['bare', 'nereid'];
      for (const name of order) measured[name][connections].push(await load(servers[name].url, connections, seconds));
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
    'ratio to addon loop': Number((rate / loopAt(connections)).toFixed(3)),
    failures: [...ours, ...bare].reduce((sum, { failures }) => sum + failures, 0),
  };
});
console.table(rows);
console.table(loop);
if (values.json)
  writeFileSync(values.json, `${JSON.stringify({ rounds, seconds, rows, loop, measured }, undefined, 2)}\n`);
