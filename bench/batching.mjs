/**
 * What dynamic batching gains over HTTP on a model of forty small layers: one server with `dynamic_batching { }` beside one without, in alternating
 * rounds of one run.
 *
 * usage: node bench/batching.mjs [--rounds N] [--seconds S]
 */
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fortyLayers } from './src/forty-layers.mjs';
import { measure, serve } from './src/server.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '3' } },
});
const seconds = Number(values.seconds);
const CONNECTIONS = [1, 2, 4, 16, 64];
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

const repositories = { without: fortyLayers(''), with: fortyLayers('dynamic_batching { }\n') };
const servers = { without: await serve(repositories.without), with: await serve(repositories.with) };
const measured = new Map(CONNECTIONS.map((connections) => [connections, { without: [], with: [] }]));
try {
  for (const server of Object.values(servers)) await measure(server, { connections: 16, seconds: 1 });
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [connections, results] of measured) {
      // Who goes first alternates, so that neither always meets the warmer machine.
      const order = round % 2 === 0 ? ['without', 'with'] : ['with', 'without'];
      for (const name of order) results[name].push(await measure(servers[name], { connections, seconds }));
    }
  }
} finally {
  for (const { stop } of Object.values(servers)) stop();
  for (const path of Object.values(repositories)) rmSync(path, { recursive: true });
}

console.table(
  [...measured].map(([connections, results]) => {
    const gains = results.with.map(
      (result, round) => result.requestsPerSecond / results.without[round].requestsPerSecond,
    );
    return {
      connections,
      'requests/s': median(results.with.map((result) => result.requestsPerSecond)),
      'without batching': median(results.without.map((result) => result.requestsPerSecond)),
      gain: Number(median(gains).toFixed(2)),
      'gain range': `${Math.min(...gains).toFixed(2)}-${Math.max(...gains).toFixed(2)}`,
      'cpu us/request': Math.round(median(results.with.map((result) => result.cpuPerRequest))),
      'without batching, cpu': Math.round(median(results.without.map((result) => result.cpuPerRequest))),
      failures: [...results.with, ...results.without].reduce((sum, { failures }) => sum + failures, 0),
    };
  }),
);
