/** Errors of the addon and of torch behind it, turned into ours. */
import type { ErrorCode } from '@nereid/core';
import { PyTorchBackendError } from './errors.ts';
import type { ModelPlan } from './model-plan.ts';
import { trimTorchText } from './torch-error.ts';

const CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'UNKNOWN',
  'INTERNAL',
  'NOT_FOUND',
  'INVALID_ARG',
  'UNAVAILABLE',
  'UNSUPPORTED',
  'ALREADY_EXISTS',
  'CANCELLED',
]);

/** How the addon says that forward returned less than an output's index asks for. */
const NO_SUCH_OUTPUT = /^The output at index (\d+) in the model configuration (refers to .*)$/;

export interface FailedRun {
  readonly plan: ModelPlan;
  readonly instanceName: string;
  readonly thrown: unknown;
}

/** A run that failed, e.g. `PyTorch execute failure: …`; the wording in front is that of the original. */
export function executionError(init: FailedRun): PyTorchBackendError {
  return noSuchOutput(init) ?? failedRun(init);
}

function noSuchOutput({ plan, thrown }: FailedRun): PyTorchBackendError | undefined {
  const match = NO_SUCH_OUTPUT.exec(thrown instanceof Error ? thrown.message : '');
  if (match === null) return undefined;
  const name = plan.outputs.find(({ index }) => index === Number(match[1]))?.spec.name ?? `at index ${match[1]}`;
  const message = `The output ${name} in the model configuration ${match[2]}`;
  return new PyTorchBackendError({ code: 'INVALID_ARG', reason: 'output', message, cause: thrown });
}

function failedRun(init: FailedRun): PyTorchBackendError {
  const prefix =
    init.plan.engine === 'torchscript'
      ? 'PyTorch execute failure'
      : `Inductor model instance "${init.instanceName}" execution failure`;
  return new PyTorchBackendError({
    code: nativeCode(init.thrown),
    reason: 'execution',
    message: `${prefix}: ${nativeText(init.thrown)}`,
    cause: init.thrown,
  });
}

/** A file that torch refused. */
export function loadError(modelName: string, thrown: unknown): PyTorchBackendError {
  return new PyTorchBackendError({
    code: nativeCode(thrown),
    reason: 'load',
    message: `failed to load model '${modelName}': ${nativeText(thrown)}`,
    cause: thrown,
  });
}

export function nativeCode(thrown: unknown): ErrorCode {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return isErrorCode(code) ? code : 'INTERNAL';
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && CODES.has(code);
}

export function nativeText(thrown: unknown): string {
  return trimTorchText(thrown instanceof Error ? thrown.message : String(thrown));
}
