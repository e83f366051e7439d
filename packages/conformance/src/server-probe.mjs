/**
 * Loaded into a server (`node --expose-gc --import`): at SIGUSR2 it prints one line of JSON, how late the event loop was since the last time and what memory is in
 * use once garbage is collected.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 5;
const MIB = 2 ** 20;
const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
histogram.enable();

/** What is measured is the time between two ticks. */
const lateMs = (ns) => Math.max(0, ns / 1e6 - RESOLUTION_MS);

process.on('SIGUSR2', () => {
  const [medianMs, p99Ms, maxMs] = [histogram.percentile(50), histogram.percentile(99), histogram.max].map(lateMs);
  globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  const memory = { residentMiB: rss / MIB, usedMiB: (heapUsed + external) / MIB };
  const line = { probe: { seconds: process.uptime(), medianMs, p99Ms, maxMs, ...memory } };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  histogram.reset();
});
