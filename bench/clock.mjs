/**
 * How late timers are, and what waiting for them costs: the clock on the addon's alarm beside the one on the event loop alone, in alternating rounds of one run. Then the same of the dynamic
 * batcher: by how much a lone request waits longer than its queue delay. Beside both stands a thread that only sleeps: what it is late by is the machine's own, and no clock that sleeps is
 * better. Then what arming and cancelling cost, and at last by how much requests to a server, one after the other over HTTP, wait longer than the queue delay. Nothing is measured before the code is compiled: that alone holds single batches up for milliseconds.
 *
 * usage: node bench/clock.mjs [--rounds N] [--timers N]
 */
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { AlarmClock, DynamicScheduler, SystemClock } from '@nereid/batching';
import { InferenceRequest } from '@nereid/core';
import { openAlarm } from '@nereid/native';
import { fortyLayers } from './src/forty-layers.mjs';
import { measure, serve } from './src/server.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, timers: { type: 'string', default: '200' } },
});
const [rounds, timers] = [Number(values.rounds), Number(values.timers)];
const DELAYS = [100, 500, 1000, 5000];
/** For each delay and clock. */
const WARM_UP_MS = 3000;
/** Load on the server that counts; as long a heavier one goes before. */
const SECONDS = 5;

/** Microseconds by which one timer is late. */
function timerError(clock, delay) {
  const deadline = clock.nowMicros() + delay;
  return new Promise((resolve) => clock.at(deadline, () => resolve(clock.nowMicros() - deadline)));
}

/** An instance that answers at once. */
const instance = {
  name: 'bench_0',
  capacity: 1,
  execute: async (batch) => {
    for (const request of batch) request.respond(undefined);
  },
  close: async () => {},
};

/** Measures by how many microseconds a lone request waits beyond the queue delay of a batcher. */
function batcherError(clock, delay) {
  const scheduler = new DynamicScheduler({
    instances: [instance],
    clock,
    maxBatchSize: 8,
    dynamicBatching: { maxQueueDelayMicroseconds: delay },
  });
  const init = { modelName: 'bench', modelVersion: '1', id: '', inputs: [], requestedOutputs: [] };
  return () =>
    new Promise((resolve, reject) => {
      const respond = (request) => resolve(request.dispatchedMicros - request.arrivedMicros - delay);
      const request = new InferenceRequest(init, { respond, fail: (_, error) => reject(error) });
      request.arrivedMicros = clock.nowMicros();
      scheduler.enqueue(request);
    });
}

/** Sleeps on this thread, which does nothing else. */
const sleep = new Int32Array(new SharedArrayBuffer(4));
function threadError(delay) {
  const start = performance.now() * 1000;
  Atomics.wait(sleep, 0, 0, delay / 1000);
  return performance.now() * 1000 - start - delay;
}

const clocks = { alarm: new AlarmClock(openAlarm), 'event loop': new SystemClock() };
const cases = DELAYS.flatMap((delay) =>
  Object.entries(clocks).map(([name, clock]) => {
    const measureBatch = batcherError(clock, delay);
    return { delay, name, measureBatch, timer: [], batcher: [], cpuMs: 0, wallMs: 0 };
  }),
);

const threads = new Map(DELAYS.map((delay) => [delay, []]));

for (const { delay, name, measureBatch } of cases) {
  for (const end = performance.now() + WARM_UP_MS; performance.now() < end; ) {
    await timerError(clocks[name], delay);
    await measureBatch();
  }
}
for (let round = 0; round < rounds; round++) {
  // Who goes first alternates, so that neither always meets the warmer machine.
  for (const each of round % 2 === 0 ? cases : cases.toReversed()) {
    const clock = clocks[each.name];
    const [cpu, wall] = [process.cpuUsage(), performance.now()];
    for (let i = 0; i < timers; i++) each.timer.push(await timerError(clock, each.delay));
    const used = process.cpuUsage(cpu);
    each.cpuMs += (used.user + used.system) / 1000;
    each.wallMs += performance.now() - wall;
    for (let i = 0; i < timers; i++) each.batcher.push(await each.measureBatch());
  }
  for (const [delay, late] of threads) for (let i = 0; i < timers; i++) late.push(threadError(delay));
}

const quantile = (list, share) => Math.round([...list].sort((a, b) => a - b)[Math.floor(share * list.length)]);
const spread = (list) => [0.5, 0.9, 0.99].map((share) => quantile(list, share)).join(' / ');
console.table(
  cases.map(({ delay, name, timer, batcher, cpuMs, wallMs }) => ({
    'delay, us': delay,
    clock: name,
    'late, us: p50 / p90 / p99': spread(timer),
    'batch late, us: p50 / p90 / p99': spread(batcher),
    'sleeping thread late': spread(threads.get(delay)),
    'CPU while waiting': `${Math.round((cpuMs / wallMs) * 100)} %`,
  })),
);

/** Nanoseconds per pair of arming and cancelling, beside one later timer or none. */
function armCost(clock, { isAlone }) {
  const other = isAlone ? undefined : clock.at(clock.nowMicros() + 1e9, () => {});
  const count = 100_000;
  const start = performance.now();
  for (let i = 0; i < count; i++) clock.at(clock.nowMicros() + 1e10, () => {}).cancel();
  const spent = performance.now() - start;
  other?.cancel();
  return Math.round((spent / count) * 1e6);
}

for (const isAlone of [true, false]) for (const clock of Object.values(clocks)) armCost(clock, { isAlone });
console.table(
  Object.entries(clocks).map(([clock, it]) => ({
    clock,
    'arm + cancel alone, ns': armCost(it, { isAlone: true }),
    'arm + cancel beside an earlier one, ns': armCost(it, { isAlone: false }),
  })),
);
clocks.alarm.close();

/** By how many microseconds requests of a server wait longer than its queue delay, as its access log tells. */
async function serverError(delay) {
  const repository = fortyLayers(`dynamic_batching { max_queue_delay_microseconds: ${delay} }\n`);
  let late = [];
  const onLine = (line) => {
    const queued = /queue_us=(\d+)/.exec(line)?.[1];
    if (queued !== undefined) late.push(Number(queued) - delay);
  };
  const server = await serve(repository, ['--access-log=true'], onLine);
  try {
    await measure(server, { connections: 16, seconds: SECONDS });
    late = [];
    await measure(server, { connections: 1, seconds: SECONDS });
  } finally {
    server.stop();
    rmSync(repository, { recursive: true });
  }
  return spread(late);
}

const ofServer = [];
for (const delay of DELAYS)
  ofServer.push({ 'delay, us': delay, 'request late, us: p50 / p90 / p99': await serverError(delay) });
console.table(ofServer);
