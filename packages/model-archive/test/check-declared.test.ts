import { describe, expect, it } from 'vitest';
import { checkDeclared, type DeclaredTensor, type SymbolSizes } from '../src/index.ts';

const declared: DeclaredTensor = {
  ordinalName: 'INPUT__0',
  datatype: 'FP32',
  torchDtype: 'float32',
  shape: [{ min: 1, max: 8, symbol: 's0' }, 4, { min: 2, max: null }],
};
const tensor = (shape: number[], datatype: 'FP32' | 'INT64' = 'FP32') => ({ name: 'x', datatype, shape });

describe('a tensor that the file allows passes', () => {
  it.each([
    ['at the lower bounds', declared, tensor([1, 4, 2])],
    ['at the upper bound', declared, tensor([8, 4, 1_000_000])],
    ['of a file that states nothing', { ordinalName: 'INPUT__0' }, tensor([0, 3], 'INT64')],
    ['of a file that states the datatype only', { ordinalName: 'INPUT__0', datatype: 'FP32' as const }, tensor([7])],
    ['a scalar', { ordinalName: 'INPUT__0', shape: [] }, tensor([])],
  ])('%s', (_, declaration, given) => {
    expect(checkDeclared(declaration, given)).toBeUndefined();
  });
});

describe('a tensor that it does not allow is refused with both sides', () => {
  const shape = 'the model file was compiled for [1..8,4,2..]';
  it.each([
    ['another datatype', tensor([1, 4, 2], 'INT64'), "'x' is INT64; the model file was compiled for FP32."],
    ['too few dimensions', tensor([1, 4]), `'x' has shape [1,4]; ${shape}: another number of dimensions.`],
    ['a fixed size that differs', tensor([1, 5, 2]), `'x' has shape [1,5,2]; ${shape}: dimension 1 is 5.`],
    ['below a range', tensor([0, 4, 2]), `'x' has shape [0,4,2]; ${shape}: dimension 0 is 0.`],
    ['above a range', tensor([9, 4, 2]), `'x' has shape [9,4,2]; ${shape}: dimension 0 is 9.`],
    ['below an open range', tensor([1, 4, 1]), `'x' has shape [1,4,1]; ${shape}: dimension 2 is 1.`],
  ])('%s', (_, given, message) => {
    expect(checkDeclared(declared, given)).toBe(message);
  });

  it('a datatype that no request can carry', () => {
    const complex: DeclaredTensor = { ordinalName: 'INPUT__0', torchDtype: 'complex64' };
    expect(checkDeclared(complex, tensor([1]))).toContain('torch.complex64, which no request can carry');
  });
});

it('dimensions with one symbol must be equal across the tensors of a call', () => {
  const symbols: SymbolSizes = new Map();
  expect(checkDeclared(declared, tensor([3, 4, 2]), symbols)).toBeUndefined();
  expect(checkDeclared(declared, { ...tensor([3, 4, 9]), name: 'y' }, symbols)).toBeUndefined();
  expect(checkDeclared(declared, { ...tensor([2, 4, 2]), name: 'z' }, symbols)).toBe(
    "'z' has shape [2,4,2]; its dimension 0 must equal that of 'x', which is 3: the model file was compiled for equal sizes.",
  );
});
