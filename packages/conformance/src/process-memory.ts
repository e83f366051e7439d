/** Memory and descriptors of other processes over time, as Linux tells them. */
import { readdirSync, readFileSync } from 'node:fs';

export interface MemorySample {
  readonly seconds: number;
  readonly residentMiB: number;
}

/** Samples the resident memory of a process until it is told to stop, or the process has ended. */
export class MemoryWatch {
  readonly #samples: MemorySample[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number, everyMs: number) {
    const start = performance.now();
    this.#timer = setInterval(() => {
      const size = residentMiB(pid);
      if (size === undefined) clearInterval(this.#timer);
      else this.#samples.push({ seconds: (performance.now() - start) / 1000, residentMiB: size });
    }, everyMs);
  }

  stop(): readonly MemorySample[] {
    clearInterval(this.#timer);
    return this.#samples;
  }
}

/** Undefined for a process that is gone. */
function residentMiB(pid: number): number | undefined {
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? undefined : Number(kib) / 1024;
  } catch {
    return undefined;
  }
}

export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Children of a process, by a part of their command line. */
export function childrenOf(pid: number, part: string): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return children.map(Number).filter((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes(part));
}

/**
 * Growth per second of a measure: the median of the slopes between all pairs of samples (Theil and Sen), which neither a burst nor an outlier moves.
 */
export function growthPerSecond(samples: readonly { readonly seconds: number; readonly value: number }[]): number {
  const slopes = samples.flatMap((a, i) =>
    samples.slice(i + 1).map((b) => (b.value - a.value) / (b.seconds - a.seconds)),
  );
  slopes.sort((a, b) => a - b);
  return slopes[Math.floor(slopes.length / 2)] ?? Number.NaN;
}
