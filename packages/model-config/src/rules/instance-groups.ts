import type { Check } from './rule.ts';
import { quoteList, repeats } from './rule.ts';

/** A count beyond this is a slip of the keyboard, and would exhaust the memory before the first instance fails. */
const MAX_COUNT = 4096;

const groupMissing: Check = function* ({ config, model }) {
  if (config.platform === 'ensemble' || config.instanceGroup.length > 0) return;
  const message = `must specify one or more 'instance group's for ${model}; e.g. instance_group [ { kind: KIND_CPU count: 1 } ]`;
  yield { path: 'instance_group', message };
};

const unexpectedGpus: Check = function* ({ config, model }) {
  for (const [i, { name, kind, gpus }] of config.instanceGroup.entries()) {
    if ((kind !== 'KIND_MODEL' && kind !== 'KIND_CPU') || gpus.length === 0) continue;
    const message = `instance group ${name} of model ${model} has kind ${kind} but specifies one or more GPUs: ${gpus.join(', ')}; remove 'gpus', or set kind: KIND_GPU where those GPUs exist`;
    yield { path: `instance_group[${i}].gpus`, message };
  }
};

const gpuSupport: Check = function* ({ config, model, gpus: usable }) {
  for (const [i, { name, kind, gpus }] of config.instanceGroup.entries()) {
    if (kind !== 'KIND_GPU') continue;
    const path = `instance_group[${i}].kind`;
    const subject = `instance group ${name} of model ${model}`;
    if (usable === undefined) {
      const message = `${subject} has kind KIND_GPU but server does not support GPUs; set kind: KIND_CPU, or use a build of LibTorch with CUDA`;
      yield { path, message };
    } else if (gpus.length === 0) {
      const reason = usable.length === 0 ? 'no GPUs are available' : 'specifies no GPUs';
      const remedy =
        usable.length === 0
          ? 'set kind: KIND_CPU, or check that the driver sees a GPU'
          : `list some of ${usable.join(', ')}`;
      yield { path, message: `${subject} has kind KIND_GPU but ${reason}; ${remedy}` };
    }
  }
};

const gpuId: Check = function* ({ config, model, gpus: usable }) {
  for (const [i, { name, kind, gpus }] of config.instanceGroup.entries()) {
    if (kind !== 'KIND_GPU' || usable === undefined) continue;
    for (const [j, gpu] of gpus.entries()) {
      if (usable.includes(gpu)) continue;
      const message = `instance group ${name} of model ${model} specifies invalid or unsupported gpu id ${gpu}. GPUs with sufficient compute capability are: ${quoteList(usable)}`;
      yield { path: `instance_group[${i}].gpus[${j}]`, message };
    }
  }
};

const profilePlatform: Check = function* ({ config, model }) {
  if (config.platform === 'tensorrt_plan') return;
  for (const [i, { name, profile }] of config.instanceGroup.entries()) {
    if (profile.length === 0) continue;
    const message = `instance group ${name} of model ${model} and platform ${config.platform} specifies profile field which is only supported for TensorRT models; remove 'profile'`;
    yield { path: `instance_group[${i}].profile`, message };
  }
};

const profileNumber: Check = function* ({ config, model }) {
  if (config.platform !== 'tensorrt_plan') return;
  for (const [i, { name, profile }] of config.instanceGroup.entries()) {
    for (const [j, text] of profile.entries()) {
      if (/^[0-9]+$/.test(text)) continue;
      const message = `instance group ${name} of model ${model} specifies invalid profile ${JSON.stringify(text)}; it should be a non-negative integer in quotes`;
      yield { path: `instance_group[${i}].profile[${j}]`, message };
    }
  }
};

const unresolvedKind: Check = function* ({ config, model }) {
  for (const [i, { name, kind }] of config.instanceGroup.entries()) {
    if (kind !== 'KIND_AUTO') continue;
    const message = `instance group ${name} of model ${model} has unexpected kind KIND_AUTO; resolve the instance groups first`;
    yield { path: `instance_group[${i}].kind`, message };
  }
};

/** Not checked by Triton, which creates no instance for a negative count. */
const instanceCount: Check = function* ({ config, model }) {
  for (const [i, { name, count }] of config.instanceGroup.entries()) {
    if (count >= 1 && count <= MAX_COUNT) continue;
    const message = `instance group ${name} of model ${model} has count ${count}; expected 1 to ${MAX_COUNT}`;
    yield { path: `instance_group[${i}].count`, message };
  }
};

/** Not checked by Triton: logs and metrics could not tell the instances apart. */
const repeatedGroupName: Check = function* ({ config, model }) {
  for (const [name, i] of repeats(config.instanceGroup.map((group) => group.name))) {
    if (name === '') continue;
    const message = `two instance groups of model ${model} are named '${name}', so their instances have equal names; rename one`;
    yield { severity: 'warning', path: `instance_group[${i}].name`, message };
  }
};

/** Rules on instance groups after `resolveInstanceGroups`. */
export const INSTANCE_GROUP_RULES = {
  'instance-group-missing': groupMissing,
  'unexpected-gpus': unexpectedGpus,
  'gpu-support': gpuSupport,
  'gpu-id': gpuId,
  'profile-platform': profilePlatform,
  'profile-number': profileNumber,
  'unresolved-kind': unresolvedKind,
  'instance-count': instanceCount,
  'repeated-group-name': repeatedGroupName,
} satisfies Record<string, Check>;
