import { describe, expect, it } from 'vitest';
import {
  createModelConfig,
  type Init,
  type InstanceGroupOptions,
  instanceSpecs,
  type ModelConfig,
  type ModelInstanceGroup,
  resolveInstanceGroups,
} from '../src/index.ts';

function resolve(
  groups: readonly Init<ModelInstanceGroup>[],
  options: InstanceGroupOptions = {},
  backend = 'pytorch',
): ModelConfig {
  return resolveInstanceGroups(createModelConfig({ name: 'm', backend, instanceGroup: groups }), options);
}

function rows(config: ModelConfig) {
  return config.instanceGroup.map(({ name, kind, count, gpus }) => [name, kind, count, gpus]);
}

describe('resolveInstanceGroups', () => {
  it('makes one group named as the model when there is none', () => {
    expect(rows(resolve([]))).toEqual([['m', 'KIND_CPU', 1, []]]);
    expect(rows(resolve([], { gpus: [0, 1] }))).toEqual([['m', 'KIND_GPU', 1, [0, 1]]]);
  });

  it('takes kind, count and GPUs of the first group of the backend that the machine can have', () => {
    const preferred = [
      { kind: 'KIND_GPU', count: 2, gpus: [1] },
      { kind: 'KIND_CPU', count: 3, gpus: [] },
    ] as const;
    expect(rows(resolve([], { preferred }))).toEqual([['m', 'KIND_CPU', 3, []]]);
    expect(rows(resolve([], { preferred, gpus: [0, 1] }))).toEqual([['m', 'KIND_GPU', 2, [1]]]);
  });

  it('names written groups by their index', () => {
    const groups = resolve([{ kind: 'KIND_CPU' }, { name: 'mine', kind: 'KIND_CPU' }, { kind: 'KIND_MODEL' }]);
    expect(groups.instanceGroup.map(({ name }) => name)).toEqual(['m_0', 'mine', 'm_2']);
  });

  it.each<[gpus: readonly number[] | undefined, listed: number[], kind: string]>([
    [undefined, [], 'KIND_CPU'],
    [[], [0], 'KIND_CPU'],
    [[0, 1], [], 'KIND_GPU'],
    [[0, 1], [1], 'KIND_GPU'],
    [[0, 1], [1, 99], 'KIND_CPU'],
  ])('KIND_AUTO with GPUs %j on the machine and %j listed becomes %s', (gpus, listed, kind) => {
    expect(resolve([{ gpus: listed }], { gpus }).instanceGroup[0]?.kind).toBe(kind);
  });

  it.each([
    ['pytorch', 'KIND_CPU', 1],
    ['onnxruntime', 'KIND_CPU', 2],
    ['tensorflow', 'KIND_CPU', 2],
    ['onnxruntime', 'KIND_MODEL', 1],
  ] as const)('a group of %s and %s without a count gets %i', (backend, kind, count) => {
    expect(resolve([{ kind }], {}, backend).instanceGroup[0]?.count).toBe(count);
    const preferred = [{ kind, count: 5, gpus: [] }];
    expect(resolve([{ kind }], { preferred }, backend).instanceGroup[0]?.count).toBe(5);
    expect(resolve([{ kind, count: 7 }], { preferred }, backend).instanceGroup[0]?.count).toBe(7);
  });

  it('leaves ensembles without groups, and what is resolved as it is', () => {
    const ensemble = createModelConfig({ platform: 'ensemble' });
    expect(resolveInstanceGroups(ensemble)).toEqual(ensemble);
    const once = resolve([{}, { count: 2 }], { gpus: [0] });
    expect(resolveInstanceGroups(once, { gpus: [0] })).toEqual(once);
  });
});

describe('instanceSpecs', () => {
  const specs = (groups: readonly Init<ModelInstanceGroup>[], options?: InstanceGroupOptions) =>
    instanceSpecs(resolve(groups, options)).map(({ name, kind, deviceId }) => `${name} ${kind} ${deviceId}`);

  it('one default instance is named after the model', () => {
    expect(specs([])).toEqual(['m_0 KIND_CPU 0']);
  });

  it('groups without a name number their instances below the index of the group', () => {
    expect(specs([{ kind: 'KIND_CPU', count: 2 }, { kind: 'KIND_MODEL' }])).toEqual([
      'm_0_0 KIND_CPU 0',
      'm_0_1 KIND_CPU 0',
      'm_1_0 KIND_MODEL 0',
    ]);
  });

  it('the count holds for each GPU and numbers go on from one GPU to the next, one listed twice included', () => {
    expect(specs([{ name: 'g', kind: 'KIND_GPU', count: 2, gpus: [1, 0, 1] }], { gpus: [0, 1] })).toEqual([
      'g_0 KIND_GPU 1',
      'g_1 KIND_GPU 1',
      'g_2 KIND_GPU 0',
      'g_3 KIND_GPU 0',
      'g_4 KIND_GPU 1',
      'g_5 KIND_GPU 1',
    ]);
  });
});
