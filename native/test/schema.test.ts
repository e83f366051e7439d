import { buildInfo } from '@nereid/native';
import { expect, test } from 'vitest';
import { openAoti, openTorchScript } from './support.ts';

test.each([
  { name: 'double', arguments: [['x', 'Tensor', false]], returns: ['Tensor'] },
  { name: 'strings', arguments: [['x', 'List[str]', false]], returns: ['List[str]'] },
  { name: 'keyed', arguments: [['inputs', 'Dict[str, Tensor]', false]], returns: ['Dict[str, Tensor]'] },
  {
    name: 'mixed',
    arguments: [
      ['x', 'Tensor', false],
      ['names', 'List[str]', false],
    ],
    returns: ['Tuple[Tensor, List[str]]'],
  },
  { name: 'named', arguments: [['x', 'Tensor', false]], returns: ['Tuple[Tensor, Tensor]'] },
  { name: 'tensors', arguments: [['x', 'Tensor', false]], returns: ['List[Tensor]'] },
  { name: 'nothing', arguments: [['x', 'Tensor', false]], returns: ['Optional[Tensor]'] },
  {
    name: 'defaults',
    arguments: [
      ['x', 'Tensor', false],
      ['y', 'Optional[Tensor]', true],
      ['scale', 'int', true],
    ],
    returns: ['Tensor'],
  },
])('the schema of $name is that of its forward', async ({ name, arguments: expected, returns }) => {
  const model = await openTorchScript(name);
  expect(model.schema).toEqual({
    arguments: expected.map(([argument, type, hasDefault]) => ({ name: argument, type, hasDefault })),
    returns,
    wasTraining: false,
  });
  await model.close();
});

test('a package states its call spec, target, constants, inputs and outputs', async () => {
  const model = await openAoti('mlp');
  expect(model.callSpec.map((text) => JSON.parse(text)[0])).toEqual([1, 1]);
  expect(model.metadata).toMatchObject({ AOTI_DEVICE_KEY: 'cpu' });
  expect(model.constantNames).toEqual(['layers.0.bias', 'layers.0.weight', 'layers.2.bias', 'layers.2.weight']);
  expect(model.inputNames).toHaveLength(1);
  expect(model.outputCount).toBe(1);
  await model.close();
  const many = await openAoti('dtypes');
  expect([many.inputNames.length, many.outputCount]).toEqual([13, 16]);
  await many.close();
});

test('the build states what it is', () => {
  expect(buildInfo()).toEqual({
    torchVersion: expect.stringMatching(/^2\.13\./),
    napiVersion: 9,
    gpus: [],
    cuda: expect.any(Boolean),
    cpuCapability: expect.stringMatching(/^[a-z0-9]+$/),
  });
});
