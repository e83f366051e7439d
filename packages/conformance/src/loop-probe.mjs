/** Loaded into a server (`node --import`): measures how late its event loop is, and prints it at SIGUSR2 as one line of JSON, from the last time on. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 5;
const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
histogram.enable();

/** What is measured is the time between two ticks. */
const lateMs = (ns) => Math.max(0, ns / 1e6 - RESOLUTION_MS);

process.on('SIGUSR2', () => {
  const [medianMs, p99Ms, maxMs] = [histogram.percentile(50), histogram.percentile(99), histogram.max].map(lateMs);
  histogram.reset();
  process.stdout.write(`${JSON.stringify({ loop: { medianMs, p99Ms, maxMs } })}\n`);
});
