import { entryPath } from '../fields.ts';
import type { ModelEnsemblingStep } from '../generated/types.ts';
import { ensembleGraph, unconnectedDependency } from './ensemble-graph.ts';
import type { Check } from './rule.ts';

const PATH = 'ensemble_scheduling';

const wrongPlatform: Check = function* ({ config, model }) {
  if (!config.ensembleScheduling || config.platform === 'ensemble') return;
  const message = `ensemble scheduling cannot be set for model '${model}' whose platform is '${config.platform}'; set platform: "ensemble" and remove 'backend'`;
  yield { path: PATH, message };
};

const schedulingMissing: Check = function* ({ config, model }) {
  if (config.ensembleScheduling || config.platform !== 'ensemble') return;
  const message = `ensemble scheduling must be set for ensemble '${model}' whose platform is 'ensemble'; add ensemble_scheduling { step [ … ] }`;
  yield { path: 'platform', message };
};

const ensembleInstances: Check = function* ({ config, model }) {
  if (config.platform !== 'ensemble' || config.instanceGroup.length === 0) return;
  const members = [...new Set(config.ensembleScheduling?.step.map(({ modelName }) => `'${modelName}'`) ?? [])];
  const message = `instance group should not be specified for ensemble '${model}': set the instances of its members (${members.join(', ')}) in their own configurations`;
  yield { path: 'instance_group', message };
};

const ensembleOptimization: Check = function* ({ config, model }) {
  if (config.platform !== 'ensemble' || config.optimization === undefined) return;
  yield { path: 'optimization', message: `optimization should not be specified for ensemble '${model}'; remove it` };
};

const ensembleWarmup: Check = function* ({ config, model }) {
  if (config.platform !== 'ensemble' || config.modelWarmup.length === 0) return;
  const message = `model_warmup can not be specified for ensemble '${model}'; warm its members up instead`;
  yield { path: 'model_warmup', message };
};

const stepMissing: Check = function* ({ config, model }) {
  if (config.ensembleScheduling?.step.length !== 0) return;
  yield { path: PATH, message: `must specify 'step' for ensemble '${model}'; an ensemble needs one step at least` };
};

const stepField: Check = function* ({ config, model }) {
  for (const [i, step] of (config.ensembleScheduling?.step ?? []).entries()) {
    for (const field of missingFields(step)) {
      const message = `must specify '${field}' in step ${i} of ensemble '${model}'`;
      yield { path: `${PATH}.step[${i}]`, message };
    }
  }
};

function missingFields({ modelName, inputMap, outputMap }: ModelEnsemblingStep): string[] {
  return [
    ...(modelName === '' ? ['model_name'] : []),
    ...(inputMap.size === 0 ? ['input_map'] : []),
    ...(outputMap.size === 0 ? ['output_map'] : []),
  ];
}

const writtenTwice: Check = function* ({ config, model }) {
  const written = new Set(config.input.map(({ name }) => name));
  const isInput = (name: string) => config.input.some((input) => input.name === name);
  for (const [i, { outputMap }] of (config.ensembleScheduling?.step ?? []).entries()) {
    for (const [output, name] of outputMap) {
      if (written.has(name)) {
        const earlier = isInput(name) ? 'is an input of the ensemble' : 'is already written';
        const message = `ensemble tensor '${name}' can appear in an output map only once for ensemble '${model}', and ${earlier}; give output '${output}' of step ${i} another tensor`;
        yield { path: entryPath(`${PATH}.step[${i}].output_map`, output), message };
      }
      written.add(name);
    }
  }
};

const unusedInput: Check = function* ({ config, model }) {
  if (!config.ensembleScheduling) return;
  const { tensors } = ensembleGraph(config);
  for (const [i, { name }] of config.input.entries()) {
    if ((tensors.get(name)?.readers.length ?? 0) > 0) continue;
    const message = `ensemble input '${name}' for ensemble '${model}' is not used: it is in no step's 'input_map'`;
    yield { path: `input[${i}]`, message };
  }
};

const outputNotWritten: Check = function* ({ config, model }) {
  if (!config.ensembleScheduling) return;
  const graph = ensembleGraph(config);
  for (const [i, { name }] of config.output.entries()) {
    if (graph.ready.has(name)) continue;
    const path = `output[${i}]`;
    if (!graph.tensors.has(name)) {
      yield {
        path,
        message: `ensemble output '${name}' for ensemble '${model}' is not used: it is in no step's 'output_map'`,
      };
      continue;
    }
    const cause = unconnectedDependency(config, graph, name);
    const reason =
      cause === undefined
        ? 'its steps wait for each other'
        : `at least one of its depending tensors, '${cause}', is not connected`;
    yield { path, message: `output '${name}' for ensemble '${model}' is not written: ${reason}` };
  }
};

const unusedTensor: Check = function* ({ config, model }) {
  if (!config.ensembleScheduling) return;
  const { tensors, ready } = ensembleGraph(config);
  for (const { name, readers, isInput, isOutput } of tensors.values()) {
    if (isInput || isOutput || (ready.has(name) && readers.length > 0)) continue;
    const reason = ready.has(name) ? 'no step reads it and it is no output' : 'it never gets a value';
    yield { path: PATH, message: `ensemble tensor '${name}' is unused in ensemble '${model}': ${reason}` };
  }
};

/** Rules on an ensemble by itself; those that need the members' configurations are checked when they are known. */
export const ENSEMBLE_RULES = {
  'ensemble-platform': wrongPlatform,
  'ensemble-scheduling-missing': schedulingMissing,
  'ensemble-instance-group': ensembleInstances,
  'ensemble-optimization': ensembleOptimization,
  'ensemble-warmup': ensembleWarmup,
  'step-missing': stepMissing,
  'step-field': stepField,
  'tensor-written-twice': writtenTwice,
  'ensemble-input-unused': unusedInput,
  'ensemble-output-not-written': outputNotWritten,
  'ensemble-tensor-unused': unusedTensor,
} satisfies Record<string, Check>;
