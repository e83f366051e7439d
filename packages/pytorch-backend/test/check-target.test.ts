import type { InstanceSpec } from '@nereid/core';
import type { CompileTarget } from '@nereid/model-archive';
import { describe, expect, it } from 'vitest';
import { checkTarget } from '../src/check-target.ts';

const HOST = { platform: 'linux', machine: 'x86_64', cpuFlags: new Set(['avx2', 'fma', 'f16c']) };

function check(target: CompileTarget, kind: InstanceSpec['kind'] = 'KIND_CPU', cuda = false): () => void {
  const build = { torchVersion: '2.13.0', napiVersion: 9, cuda, gpus: [], cpuCapability: 'avx2' };
  const instances = [{ name: 'm_0', kind, deviceId: 0 }];
  return () => checkTarget({ modelName: 'm', target, instances, build, host: HOST });
}

describe('checkTarget', () => {
  it.each([
    [{}, 'KIND_CPU', false],
    [{ device: 'cpu', platform: 'linux', machine: 'x86_64', cpuIsa: 'AVX2' }, 'KIND_CPU', false],
    [{ device: 'cpu' }, 'KIND_MODEL', false],
    [{ device: 'cuda' }, 'KIND_GPU', true],
    [{ device: 'cuda' }, 'KIND_MODEL', true],
  ] as const)('takes %j on %s', (target, kind, cuda) => {
    expect(check(target, kind, cuda)).not.toThrow();
  });

  it.each([
    [{ platform: 'darwin' }, 'KIND_CPU', false, /compiled on platform 'darwin', this machine is 'linux'/],
    [{ machine: 'aarch64' }, 'KIND_CPU', false, /compiled for 'aarch64', this machine is 'x86_64'/],
    [{ cpuIsa: 'AVX512' }, 'KIND_CPU', false, /compiled for AVX512, this CPU lacks avx512f/],
    [{ device: 'cuda' }, 'KIND_CPU', false, /device 'cuda', but the addon was built against LibTorch 2\.13\.0 for CPU/],
    [{ device: 'cuda' }, 'KIND_CPU', true, /device 'cuda', but instance 'm_0' is KIND_CPU/],
    [{ device: 'cpu' }, 'KIND_GPU', true, /device 'cpu', but instance 'm_0' is KIND_GPU/],
  ] as const)('refuses %j on %s, naming both sides', (target, kind, cuda, message) => {
    expect(check(target, kind, cuda)).toThrow(message);
    expect(check(target, kind, cuda)).toThrow("failed to load model 'm': ");
  });
});
