import { freemem, totalmem } from 'node:os';
import type { HistogramStatistics } from '@nereid/serving';
import { type CpuTime, readCpuTime, utilization } from './cpu-time.ts';
import { LoopDelay } from './loop-delay.ts';

/** How the machine and the process are now. */
export interface ProcessSample {
  /** Part of the machine's CPU time that was used between the latest two readings, from 0 to 1; undefined where it is not known. */
  readonly cpuUtilization: number | undefined;
  readonly memoryTotalBytes: number;
  /** All but what a new process could have. */
  readonly memoryUsedBytes: number;
  /** Memory of the process that JS objects hold outside of the JS heap: tensors, buffers of sockets. */
  readonly externalMemoryBytes: number;
  /** By how many seconds the event loop was late. */
  readonly eventLoopDelay: HistogramStatistics;
}

/** Watches the machine and the event loop in the background, until it is closed. It does not keep the process alive. */
export class ProcessMonitor {
  readonly #delay = new LoopDelay();
  readonly #timer: NodeJS.Timeout;
  #cpu: CpuTime | undefined;
  #utilization: number | undefined;

  /** @param intervalMs  time between two readings of the CPU */
  constructor(intervalMs: number) {
    void this.#readCpu();
    this.#timer = setInterval(() => void this.#readCpu(), intervalMs).unref();
  }

  /** Reads everything but the CPU anew. */
  sample(): ProcessSample {
    const total = totalmem();
    return {
      cpuUtilization: this.#utilization,
      memoryTotalBytes: total,
      // On Linux this is MemAvailable.
      memoryUsedBytes: total - freemem(),
      externalMemoryBytes: process.memoryUsage().external,
      eventLoopDelay: this.#delay.snapshot(),
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#delay.close();
  }

  async #readCpu(): Promise<void> {
    const before = this.#cpu;
    this.#cpu = await readCpuTime();
    if (this.#cpu !== undefined) this.#utilization = before === undefined ? 0 : utilization(before, this.#cpu);
  }
}
