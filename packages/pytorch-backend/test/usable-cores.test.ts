import { describe, expect, it } from 'vitest';
import { usableCores } from '../src/usable-cores.ts';

function cores(affinity: number, files: Readonly<Record<string, string>>): number {
  return usableCores({ affinity, readText: (path) => files[path] });
}

describe('usableCores', () => {
  it.each([
    ['the affinity mask without a control group', 6, {}, 6],
    ['a v2 quota', 8, { '/proc/self/cgroup': '0::/a/b\n', '/sys/fs/cgroup/a/b/cpu.max': '200000 100000\n' }, 2],
    [
      'a v2 quota of a parent',
      8,
      { '/proc/self/cgroup': '0::/a/b\n', '/sys/fs/cgroup/a/cpu.max': '300000 100000\n' },
      3,
    ],
    [
      'the smallest of several v2 quotas',
      8,
      {
        '/proc/self/cgroup': '0::/a/b\n',
        '/sys/fs/cgroup/a/b/cpu.max': '500000 100000\n',
        '/sys/fs/cgroup/a/cpu.max': '400000 100000\n',
      },
      4,
    ],
    [
      'the group that a container mounts as root',
      8,
      {
        '/proc/self/cgroup': '0::/docker/1234\n',
        '/sys/fs/cgroup/cpu.max': '200000 100000\n',
      },
      2,
    ],
    ['no v2 quota', 8, { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': 'max 100000\n' }, 8],
    [
      'a v1 quota',
      8,
      {
        '/proc/self/cgroup': '5:memory:/x\n4:cpu,cpuacct:/job\n',
        '/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us': '250000\n',
        '/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us': '100000\n',
      },
      2,
    ],
    [
      'a v1 quota under the short mount',
      8,
      {
        '/proc/self/cgroup': '4:cpu,cpuacct:/\n',
        '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '100000\n',
        '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
      },
      1,
    ],
    [
      'no v1 quota',
      4,
      {
        '/proc/self/cgroup': '4:cpu:/\n',
        '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
        '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
      },
      4,
    ],
    ['one core at least', 8, { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '20000 100000\n' }, 1],
    [
      'the affinity where the files make no sense',
      8,
      { '/proc/self/cgroup': 'nonsense', '/sys/fs/cgroup/cpu.max': 'x y' },
      8,
    ],
  ])('honours %s', (_, affinity, files, expected) => {
    expect(cores(affinity, files)).toBe(expected);
  });

  it('finds at least one core here', () => {
    expect(usableCores()).toBeGreaterThanOrEqual(1);
  });
});
