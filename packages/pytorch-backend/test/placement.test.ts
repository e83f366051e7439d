import type { InstanceKind } from '@nereid/core';
import { createModelConfig, instanceSpecs, resolveInstanceGroups } from '@nereid/model-config';
import { tensor, valuesOf } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { usableGpus } from '../src/index.ts';
import { fileFor } from '../src/open-model.ts';
import { inputsAndOutputs, ServedModel } from './served-model.ts';

const TORCHSCRIPT = { file: 'identity/model.pt', config: inputsAndOutputs(['x FP32 -1'], ['OUTPUT__0 FP32 -1']) };
const AOTI = {
  file: 'backend_aoti/add.pt2',
  config: inputsAndOutputs(['INPUT__0 FP32 -1 -1', 'INPUT__1 FP32 -1 -1'], ['OUTPUT__0 FP32 -1 -1']),
};
const X = [tensor({ name: 'x', values: [7] })];
const PAIR = ['INPUT__0', 'INPUT__1'].map((name) => tensor({ name, shape: [1, 1], values: [3.5] }));

describe('instances', () => {
  it.each<[InstanceKind, string, typeof TORCHSCRIPT, typeof X]>([
    ['KIND_CPU', 'a module', TORCHSCRIPT, X],
    ['KIND_MODEL', 'a module', TORCHSCRIPT, X],
    ['KIND_CPU', 'a package', AOTI, PAIR],
    ['KIND_MODEL', 'a package', AOTI, PAIR],
  ])('of %s run %s on the CPU, which it was made for', async (kind, _, model, inputs) => {
    await using served = await ServedModel.load({ ...model, kind, instances: 2 });
    const output = (await served.infer(...inputs)).get('OUTPUT__0');
    expect(output && [...valuesOf(output)]).toEqual([7]);
  });

  it.each([
    ['a module', TORCHSCRIPT],
    ['a package', AOTI],
  ])('on a GPU are refused by an addon for the CPU, with %s', async (_, model) => {
    await expect(ServedModel.load({ ...model, kind: 'KIND_GPU' })).rejects.toThrow(
      /instance 'm_0' is KIND_GPU, but GPU instances are not supported by this build: the addon was built against LibTorch 2\..* for CPU\. Use KIND_CPU/,
    );
  });

  it.each([[[]], [[{ kind: 'KIND_AUTO' as const }]]])(
    'of the groups %j are one on the CPU where there is no GPU',
    (instanceGroup) => {
      const config = createModelConfig({ name: 'm', backend: 'pytorch', instanceGroup });
      const [spec, ...others] = instanceSpecs(resolveInstanceGroups(config, { gpus: [] }));
      expect(others).toEqual([]);
      expect(spec).toMatchObject({ kind: 'KIND_CPU', deviceId: 0 });
    },
  );
});

describe('cc_model_filenames', () => {
  const native = {
    buildInfo: () => ({
      torchVersion: '2.13.0',
      napiVersion: 9,
      cuda: true,
      gpus: ['8.0', '9.0'],
      cpuCapability: 'avx2',
    }),
  };
  const file = { path: '/m/1/model.pt2', engine: 'aoti' } as const;
  const filesByCapability = new Map([['9.0', '/m/1/hopper.pt2']]);

  it.each([
    [-1, '/m/1/model.pt2'],
    [0, '/m/1/model.pt2'],
    [1, '/m/1/hopper.pt2'],
    ['saved', '/m/1/model.pt2'],
  ] as const)('on device %s: %s', (device, expected) => {
    expect(fileFor({ native, file, filesByCapability }, device)).toBe(expected);
  });

  it('name files inside the version directory, also where there is no GPU', async () => {
    const load = (name: string) =>
      ServedModel.load({
        ...TORCHSCRIPT,
        config: { ...TORCHSCRIPT.config, ccModelFilenames: new Map([['9.0', name]]) },
      });
    await expect(load('../model.pt')).rejects.toThrow(
      "cc_model_filenames is '../model.pt', which is not inside the version directory",
    );
    await (await load('hopper.pt')).close();
  });
});

it('an addon for the CPU has no GPUs to use', async () => {
  expect(await usableGpus()).toBeUndefined();
});
