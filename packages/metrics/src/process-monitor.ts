import { freemem, totalmem } from 'node:os';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { type CpuTime, readCpuTime, utilization } from './cpu-time.ts';

/** How the machine and the process are now. */
export interface ProcessSample {
  /** Part of the machine's CPU time that was used between the latest two readings, from 0 to 1; undefined where it is not known. */
  readonly cpuUtilization: number | undefined;
  readonly memoryTotalBytes: number;
  /** All but what a new process could have. */
  readonly memoryUsedBytes: number;
  /** Memory of the process that JS objects hold outside of the JS heap: tensors, buffers of sockets. */
  readonly externalMemoryBytes: number;
  /** By how many seconds the event loop was late since the sample before. */
  readonly eventLoopDelay: { readonly p50: number; readonly p99: number; readonly max: number };
}

/** How often the event loop is looked at. */
const RESOLUTION_MS = 20;

/** Watches the machine and the event loop in the background, until it is closed. It does not keep the process alive. */
export class ProcessMonitor {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #timer: NodeJS.Timeout;
  #cpu: CpuTime | undefined;
  #utilization: number | undefined;

  /** @param intervalMs  time between two readings of the CPU */
  constructor(intervalMs: number) {
    this.#delay.enable();
    void this.#readCpu();
    this.#timer = setInterval(() => void this.#readCpu(), intervalMs).unref();
  }

  /** Reads everything but the CPU anew; what is said of the event loop starts again. */
  sample(): ProcessSample {
    const total = totalmem();
    const eventLoopDelay = {
      p50: lateSeconds(this.#delay.percentile(50)),
      p99: lateSeconds(this.#delay.percentile(99)),
      max: lateSeconds(this.#delay.max),
    };
    this.#delay.reset();
    return {
      cpuUtilization: this.#utilization,
      memoryTotalBytes: total,
      // On Linux this is MemAvailable.
      memoryUsedBytes: total - freemem(),
      externalMemoryBytes: process.memoryUsage().external,
      eventLoopDelay,
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#delay.disable();
  }

  async #readCpu(): Promise<void> {
    const before = this.#cpu;
    this.#cpu = await readCpuTime();
    if (this.#cpu !== undefined) this.#utilization = before === undefined ? 0 : utilization(before, this.#cpu);
  }
}

/** The histogram holds the time between two looks, the one asked for included. */
function lateSeconds(ns: number): number {
  return Math.max(0, ns / 1e9 - RESOLUTION_MS / 1000);
}
