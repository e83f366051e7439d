import { readFile } from 'node:fs/promises';

/** Time of all CPUs since the machine started, in ticks. */
export interface CpuTime {
  readonly busy: number;
  readonly total: number;
}

/** @returns undefined where the system has no `/proc/stat`: it is of Linux */
export async function readCpuTime(path = '/proc/stat'): Promise<CpuTime | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return parseCpuTime(text);
}

/**
 * Reads the line `cpu` of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal; what follows is part of user and nice already.
 * @returns undefined for anything else
 */
export function parseCpuTime(text: string): CpuTime | undefined {
  const line = /^cpu +([\d ]+)$/m.exec(text)?.[1];
  if (line === undefined) return undefined;
  const ticks = line.trim().split(/ +/).slice(0, 8).map(Number);
  const total = ticks.reduce((sum, count) => sum + count, 0);
  const [, , , idle = 0, iowait = 0] = ticks;
  return { busy: total - idle - iowait, total };
}

/** Part of the time between two readings in which the CPUs were busy, from 0 to 1; 0 when no time passed. */
export function utilization(from: CpuTime, to: CpuTime): number {
  const total = to.total - from.total;
  if (total <= 0) return 0;
  return Math.min(1, Math.max(0, (to.busy - from.busy) / total));
}
