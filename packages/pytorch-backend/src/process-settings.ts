/** Settings that torch has once for the whole process: what a model asks for, and what is said when another model asks for something else. */
import type { Logger } from '@nereid/core';
import type { ProcessSettingsRequest, SettingConflict } from '@nereid/native';
import type { PyTorchParameters } from './parameters.ts';

/** A model as messages about process-wide settings name it. */
export function settingsOwner({ modelName, modelVersion }: ModelIdentity): string {
  return modelVersion === '' ? `'${modelName}'` : `'${modelName}' version ${modelVersion}`;
}

export interface ModelIdentity {
  readonly modelName: string;
  /** '' for a model without versions. */
  readonly modelVersion: string;
}

export function processSettings(parameters: PyTorchParameters, owner: string): ProcessSettingsRequest {
  const { cudnn, jitExecutor, jitProfiling, tensorFuser, interOpThreads = 0 } = parameters;
  return { owner, cudnn, jitExecutor, jitProfiling, tensorFuser, interOpThreads };
}

interface Spelling {
  readonly parameter: string;
  /** Value of the parameter for a value of the setting. */
  readonly text: (value: number) => string;
}

const onOff = (value: number) => (value === 0 ? 'false' : 'true');

const SPELLINGS: Readonly<Record<SettingConflict['setting'], Spelling>> = {
  cudnn: { parameter: 'DISABLE_CUDNN', text: (value) => onOff(1 - value) },
  jitExecutor: { parameter: 'ENABLE_JIT_EXECUTOR', text: onOff },
  jitProfiling: { parameter: 'ENABLE_JIT_PROFILING', text: onOff },
  tensorFuser: { parameter: 'ENABLE_TENSOR_FUSER', text: onOff },
  interOpThreads: { parameter: 'INTER_OP_THREAD_COUNT', text: String },
};

/** One warning for each setting that another model wants otherwise; both models and both values are named. */
export function warnOfConflicts(
  logger: Logger,
  { owner, conflicts }: { readonly owner: string; readonly conflicts: readonly SettingConflict[] },
): void {
  for (const conflict of conflicts) {
    const { parameter, text } = SPELLINGS[conflict.setting];
    const asked = `model ${owner}: ${parameter} is ${text(conflict.value)}`;
    logger.warn({ model: owner, parameter }, `${asked}, but ${otherSide(conflict, text(conflict.otherValue))}`);
  }
}

function otherSide({ setting, otherOwner }: SettingConflict, value: string): string {
  if (setting !== 'interOpThreads') {
    return (
      `model ${otherOwner} has ${value}; the setting is one for the whole process, so that runs of one model beside runs of the other may ` +
      'see either. Give both the same value.'
    );
  }
  const reason = otherOwner === '' ? 'torch has started with' : `model ${otherOwner} has set`;
  return `${reason} ${value}, and a process takes the number once; ${value} stays in force until it is restarted`;
}
