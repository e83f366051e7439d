/**
 * Cores that this process may use: the smaller of its CPU affinity and the CPU quota of its control group.
 *
 * v2: `/proc/self/cgroup` holds `0::/path`, and each directory from there up to the root may hold `cpu.max` = `max|<quota> <period>`.
 * v1: the line whose controllers contain `cpu` names the path, and `cpu.cfs_quota_us` (−1: none) and `cpu.cfs_period_us` hold the numbers.
 * In a container the path is often that of the host while only the container's own group is mounted, so the mount's root is always tried too.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const ROOT = '/sys/fs/cgroup';

export interface CpuLimits {
  /** Cores of the affinity mask. */
  readonly affinity: number;
  /** Content of a file, undefined when it cannot be read. */
  readonly readText: (path: string) => string | undefined;
}

/** Whole cores, at least 1; a quota of 1.5 cores counts as 1, so that threads do not wait for each other at the end of a period. */
export function usableCores(limits: CpuLimits = { affinity: availableParallelism(), readText }): number {
  return Math.max(1, Math.floor(Math.min(limits.affinity, cgroupQuota(limits.readText))));
}

function cgroupQuota(read: CpuLimits['readText']): number {
  const groups = (read('/proc/self/cgroup') ?? '').split('\n').map(parseGroup);
  let quota = Number.POSITIVE_INFINITY;
  for (const { controllers, path } of groups) {
    if (controllers === '') {
      for (const directory of upwards(ROOT, path)) quota = Math.min(quota, quotaV2(read(`${directory}/cpu.max`)));
    } else if (controllers.split(',').includes('cpu')) {
      for (const mount of [`${ROOT}/${controllers}`, `${ROOT}/cpu`]) {
        for (const directory of upwards(mount, path)) quota = Math.min(quota, quotaV1(directory, read));
      }
    }
  }
  return quota;
}

function parseGroup(line: string): { readonly controllers: string; readonly path: string } {
  const [, controllers = 'none', ...path] = line.split(':');
  return { controllers, path: path.join(':') };
}

/** `/mount/a/b`, `/mount/a`, `/mount`. */
function upwards(mount: string, path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '..');
  return Array.from({ length: parts.length + 1 }, (_, i) => [mount, ...parts.slice(0, parts.length - i)].join('/'));
}

function quotaV2(text: string | undefined): number {
  const [quota, period] = (text ?? '').trim().split(' ');
  return ratio(Number(quota), Number(period));
}

function quotaV1(directory: string, read: CpuLimits['readText']): number {
  return ratio(Number(read(`${directory}/cpu.cfs_quota_us`)), Number(read(`${directory}/cpu.cfs_period_us`)));
}

function ratio(quota: number, period: number): number {
  return quota > 0 && period > 0 ? quota / period : Number.POSITIVE_INFINITY;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
