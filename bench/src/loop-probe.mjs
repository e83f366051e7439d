/**
 * Loaded into a server (`node --expose-gc --import`): at SIGUSR2 it prints one line of JSON, how long the event loop's thread worked without turning to a timer since the
 * last line, and the memory in use once garbage is collected.
 *
 * Work is counted in processor time of that thread (`/proc/self/schedstat`): on a machine with other load, time that passes tells of them as well. Linux only.
 */
import { openSync, readSync } from 'node:fs';

const TICK_MS = 5;
const MIB = 2 ** 20;
const file = openSync('/proc/self/schedstat', 'r');
const text = Buffer.alloc(64);

/** Processor time of the thread that the process began with, in milliseconds. */
function workedMs() {
  const length = readSync(file, text, 0, text.length, 0);
  return Number(text.toString('latin1', 0, text.indexOf(0x20, 0)).slice(0, length)) / 1e6;
}

let last = { worked: workedMs(), at: performance.now() };
let longest = { workedMs: 0, passedMs: 0 };

function tick() {
  const now = { worked: workedMs(), at: performance.now() };
  longest = {
    workedMs: Math.max(longest.workedMs, now.worked - last.worked),
    passedMs: Math.max(longest.passedMs, now.at - last.at),
  };
  last = now;
}
setInterval(tick, TICK_MS).unref();

process.on('SIGUSR2', () => {
  tick();
  globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  const line = { probe: { ...longest, residentMiB: rss / MIB, usedMiB: (heapUsed + external) / MIB } };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  last = { worked: workedMs(), at: performance.now() };
  longest = { workedMs: 0, passedMs: 0 };
});
