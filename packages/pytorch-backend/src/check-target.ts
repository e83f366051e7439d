/** Holds what a package was compiled for against this machine, before its code is mapped into the process. */
import type { InstanceSpec } from '@nereid/core';
import { type CompileTarget, compareTarget, type Host } from '@nereid/model-archive';
import type { BuildInfo } from '@nereid/native';
import { PyTorchBackendError } from './errors.ts';

export interface TargetCheck {
  readonly modelName: string;
  readonly target: CompileTarget;
  readonly instances: readonly InstanceSpec[];
  readonly build: BuildInfo;
  readonly host: Host;
}

/**
 * Code for instructions that the processor lacks ends the process, so each difference is a load error that names both sides.
 * @throws {PyTorchBackendError} UNSUPPORTED `platform`
 */
export function checkTarget(check: TargetCheck): void {
  const problems = [...compareTarget(check.target, check.host), ...compareDevice(check)];
  if (problems.length === 0) return;
  throw new PyTorchBackendError({
    code: 'UNSUPPORTED',
    reason: 'platform',
    message: `failed to load model '${check.modelName}': ${problems.join(' ')}`,
  });
}

function compareDevice({ target: { device }, instances, build }: TargetCheck): readonly string[] {
  if (device === undefined) return [];
  if (device === 'cuda' && !build.cuda) {
    return [
      `The package was compiled for device 'cuda', but the addon was built against LibTorch ${build.torchVersion} for CPU. ` +
        'Compile the package for the CPU, or build the addon against a LibTorch for CUDA.',
    ];
  }
  return instances
    .filter(({ kind }) => kind !== 'KIND_MODEL' && (kind === 'KIND_GPU' ? 'cuda' : 'cpu') !== device)
    .slice(0, 1)
    .map(({ name, kind }) => `The package was compiled for device '${device}', but instance '${name}' is ${kind}.`);
}
