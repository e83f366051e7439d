import type { InstanceSpec } from '@nereid/core';
import type { ModelConfig, ModelInstanceGroup, ModelInstanceGroupKind } from './generated/types.ts';

/** What a backend proposes for models that say nothing about their instances. */
export interface PreferredGroup {
  readonly kind: ModelInstanceGroupKind;
  /** 0 leaves the count to the default. */
  readonly count: number;
  /** Empty for all that are usable. */
  readonly gpus: readonly number[];
}

export interface InstanceGroupOptions {
  /** Ids of the usable GPUs; left out by a build without GPU support. */
  readonly gpus?: readonly number[] | undefined;
  /** Proposals of the backend, best first; none by default. */
  readonly preferred?: readonly PreferredGroup[] | undefined;
}

/** Backends that get two instances on a CPU unless told otherwise. */
const TWO_ON_CPU = new Set(['onnxruntime', 'tensorflow']);

/**
 * Settles name, kind, count and GPUs of every instance group.
 *
 * Without a group there will be one, named as the model; a group without a name gets `<model>_<index>`. KIND_AUTO becomes KIND_GPU when there are
 * GPUs and every listed one is usable, else KIND_CPU. A count of 0 becomes the preferred one of the same kind, else 1 (2 on a CPU for
 * `onnxruntime` and `tensorflow`). KIND_GPU without a list takes all usable GPUs. Ensembles have no instances and come back unchanged.
 * What cannot be settled (KIND_GPU without GPUs) is left for `validateModelConfig` to report. Idempotent.
 * Source: triton core `src/model_config_utils.cc`, `SetDefaultInstanceCount` and `NormalizeInstanceGroup`.
 */
export function resolveInstanceGroups(config: ModelConfig, options: InstanceGroupOptions = {}): ModelConfig {
  if (config.platform === 'ensemble') return config;
  const groups = config.instanceGroup.length > 0 ? config.instanceGroup : [defaultGroup(config, options)];
  const instanceGroup = groups.map((group, i) => resolveGroup(config, { group, index: i, options }));
  return { ...config, instanceGroup };
}

function defaultGroup(config: ModelConfig, { gpus = [], preferred = [] }: InstanceGroupOptions): ModelInstanceGroup {
  const usable = preferred.find(({ kind }) => kind !== 'KIND_GPU' || gpus.length > 0);
  return {
    name: config.name,
    kind: usable?.kind ?? 'KIND_AUTO',
    count: usable?.count ?? 0,
    gpus: usable?.gpus ?? [],
    secondaryDevices: [],
    profile: [],
    passive: false,
    hostPolicy: '',
  };
}

interface GroupContext {
  readonly group: ModelInstanceGroup;
  readonly index: number;
  readonly options: InstanceGroupOptions;
}

function resolveGroup(config: ModelConfig, { group, index, options }: GroupContext): ModelInstanceGroup {
  const { gpus: usable = [], preferred = [] } = options;
  const kind = resolveKind(group, usable);
  return {
    ...group,
    name: group.name || `${config.name}_${index}`,
    kind,
    count: group.count || defaultCount(config, kind, preferred),
    gpus: kind === 'KIND_GPU' && group.gpus.length === 0 ? [...usable] : group.gpus,
  };
}

function resolveKind({ kind, gpus }: ModelInstanceGroup, usable: readonly number[]): ModelInstanceGroupKind {
  if (kind !== 'KIND_AUTO') return kind;
  return usable.length > 0 && gpus.every((gpu) => usable.includes(gpu)) ? 'KIND_GPU' : 'KIND_CPU';
}

function defaultCount(config: ModelConfig, kind: ModelInstanceGroupKind, preferred: readonly PreferredGroup[]): number {
  const proposed = preferred.find((group) => group.kind === kind)?.count;
  return proposed || (kind === 'KIND_CPU' && TWO_ON_CPU.has(config.backend) ? 2 : 1);
}

/**
 * Every instance of a configuration whose groups are resolved, in order: `count` for each device of each group. Instances of group `g` are
 * named `g_0`, `g_1` …, and the number keeps increasing from one GPU to the next. Groups left at KIND_AUTO count as KIND_CPU.
 */
export function instanceSpecs(config: ModelConfig): InstanceSpec[] {
  return config.instanceGroup.flatMap(({ name, kind, count, gpus }) => {
    const devices = kind === 'KIND_GPU' ? gpus : [0];
    return devices.flatMap((deviceId, d) =>
      Array.from({ length: count }, (_, i) => ({
        name: `${name}_${d * count + i}`,
        kind: kind === 'KIND_AUTO' ? 'KIND_CPU' : kind,
        deviceId,
      })),
    );
  });
}
