/**
 * What metrics cost the example MLP over HTTP, in alternating rounds of one run: without, with what is told by default, and with everything that can be measured, the latter
 * two scraped every second. CPU time of the server per request tells more than throughput where cores are shared.
 *
 * usage: node bench/metrics.mjs [--rounds N] [--seconds S] [--connections N]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { measure, serve } from './src/server.mjs';
import { repository } from './src/workload.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '16' },
  },
});
const [rounds, seconds, connections] = [values.rounds, values.seconds, values.connections].map(Number);
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

const servers = {
  without: await serve(repository, ['--allow-metrics=false']),
  default: await serve(repository),
  everything: await serve(repository, [
    '--metrics-config=histogram_latencies=true',
    '--metrics-config=summary_latencies=true',
  ]),
};
const names = Object.keys(servers);
const measured = Object.fromEntries(names.map((name) => [name, []]));

/** One load, with a collector beside it where there is something to collect. */
async function load(server) {
  const isOver = new AbortController();
  const collected = collect(server, isOver.signal);
  const result = await measure(server, { connections, seconds });
  isOver.abort();
  await collected;
  return result;
}

async function collect({ metricsUrl }, signal) {
  while (metricsUrl !== undefined && !signal.aborted) {
    await (await fetch(metricsUrl)).text();
    await sleep(1000, undefined, { signal }).catch(() => {});
  }
}

try {
  for (const server of Object.values(servers)) await measure(server, { connections, seconds: 1 });
  for (let round = 0; round < rounds; round++) {
    // Who goes first changes, so that nobody always meets the warmer machine.
    for (const [i] of names.entries()) {
      const name = names[(i + round) % names.length];
      measured[name].push(await load(servers[name]));
    }
  }
} finally {
  for (const { stop } of Object.values(servers)) stop();
}

console.table(
  names.map((name) => {
    const ratios = measured[name].map((result, round) => result.cpuPerRequest / measured.without[round].cpuPerRequest);
    return {
      metrics: name,
      'requests/s': median(measured[name].map(({ requestsPerSecond }) => requestsPerSecond)),
      'p99 us': median(measured[name].map(({ p99 }) => p99)),
      'cpu us': Number(median(measured[name].map(({ cpuPerRequest }) => cpuPerRequest)).toFixed(1)),
      'cpu to without': Number(median(ratios).toFixed(3)),
      range: `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`,
      failures: measured[name].reduce((sum, { failures }) => sum + failures, 0),
    };
  }),
);
