import { describe, expect, it } from 'vitest';
import { compareTarget, inspectAoti, isaSupported, parseCpuFlags, readHost } from '../src/index.ts';
import { exported } from './temporary.ts';

const flags = (text: string) => new Set(text.split(' '));
const AVX512 = 'avx512f avx512dq avx512vl avx512bw fma';

describe('an instruction set is supported when the CPU has all its flags', () => {
  it.each([
    ['AVX2', 'fpu avx2 fma f16c', []],
    ['avx2', 'avx2', ['fma', 'f16c']],
    ['AVX512', AVX512, []],
    ['AVX512 AVX512_VNNI', AVX512, ['avx512_vnni']],
    ['AVX512 AVX512_VNNI AMX_TILE', `${AVX512} avx512_vnni amx_tile`, ['amx_bf16', 'amx_int8']],
    ['ASIMD', 'fp asimd', []],
    ['INVALID_VEC_ISA', '', []],
    ['', '', []],
  ])('%s on a CPU with %s', (isa, cpu, missing) => {
    expect(isaSupported(isa, flags(cpu))).toEqual({ supported: missing.length === 0, missing });
  });
});

it.each([
  ['x86', 'processor\t: 0\nflags\t\t: fpu avx2  fma\nflags\t\t: other\n', ['fpu', 'avx2', 'fma']],
  ['ARM', 'Features\t: fp asimd\n', ['fp', 'asimd']],
  ['s390x', 'features\t: esan3 vxe \n', ['esan3', 'vxe']],
])('CPU flags are read on %s', (_, text, expected) => {
  expect([...(parseCpuFlags(text) ?? [])]).toEqual(expected);
});

it('a text without flags gives none', () => {
  expect(parseCpuFlags('cpu : POWER9\n')).toBeUndefined();
});

describe('a package and a machine', () => {
  const host = { platform: 'linux', machine: 'x86_64', cpuFlags: flags('avx2 fma f16c') };
  it.each([
    ['the same', { platform: 'linux', machine: 'x86_64', cpuIsa: 'AVX2' }, []],
    ['two names of one machine', { platform: 'linux', machine: 'AMD64' }, []],
    ['a target that states nothing', {}, []],
    ['another platform', { platform: 'win32', machine: 'AMD64' }, ["platform 'win32', this machine is 'linux'"]],
    [
      'another machine, whose instruction set is not compared',
      { machine: 'aarch64', cpuIsa: 'ASIMD' },
      ["for 'aarch64', this machine is 'x86_64'"],
    ],
    ['an instruction set that the CPU lacks', { cpuIsa: 'AVX512' }, ['for AVX512, this CPU lacks avx512f, avx512dq']],
    ['everything different', { platform: 'darwin', machine: 'arm64' }, ["'darwin'", "'arm64'"]],
  ])('%s', (_, target, expected) => {
    expect(compareTarget(target, host)).toEqual(expected.map((text) => expect.stringContaining(text)));
  });

  it('a CPU whose flags are unknown is not refused for them', () => {
    expect(compareTarget({ cpuIsa: 'AVX512' }, { platform: 'linux', machine: 'x86_64' })).toEqual([]);
  });

  it('a package that was compiled here runs here', async () => {
    const { target } = await inspectAoti(exported('nested'));
    expect(compareTarget(target, await readHost())).toEqual([]);
  });
});
