import type { Datatype } from '@nereid/core';
import { createModelConfig, type ModelConfig } from '@nereid/model-config';
import { requestFor, type TensorInit, tensor } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { RequestCheck } from '../src/request-check.ts';

const BATCHING = createModelConfig({
  name: 'm',
  maxBatchSize: 4,
  input: [
    { name: 'a', dataType: 'TYPE_FP32', dims: [3] },
    { name: 'b', dataType: 'TYPE_INT64', dims: [-1, 2] },
    { name: 'c', dataType: 'TYPE_FP32', dims: [1], optional: true },
  ],
  output: [
    { name: 'y', dataType: 'TYPE_FP32', dims: [3] },
    { name: 'z', dataType: 'TYPE_FP32', dims: [3] },
  ],
});

const PLAIN = createModelConfig({
  name: 'p',
  input: [{ name: 'x', dataType: 'TYPE_FP32', dims: [-1, 2] }],
  output: [{ name: 'y', dataType: 'TYPE_FP32', dims: [2] }],
});

const WORDS = createModelConfig({
  name: 'w',
  input: [{ name: 'words', dataType: 'TYPE_STRING', dims: [-1] }],
  output: [{ name: 'y', dataType: 'TYPE_STRING', dims: [-1] }],
});

/** A tensor of zeros. */
function zeros(name: string, shape: number[], datatype: Datatype = 'FP32'): TensorInit {
  const values = Array.from({ length: shape.reduce((n, dim) => n * Math.max(dim, 0), 1) }, () => 0);
  return { name, shape, datatype, values };
}

const A = zeros('a', [2, 3]);
const B = zeros('b', [2, 5, 2], 'INT64');
const C = zeros('c', [2, 1]);

function check(config: ModelConfig, inputs: TensorInit[], requestedOutputs: string[] = []): number {
  return new RequestCheck(config).check(requestFor({ inputs: inputs.map(tensor), requestedOutputs }));
}

describe('a request passes with its batch size', () => {
  it.each<[string, ModelConfig, TensorInit[], string[], number]>([
    ['all inputs', BATCHING, [A, B, C], [], 2],
    ['without the optional input, in any order', BATCHING, [B, A], ['z', 'y'], 2],
    ['of the largest batch', BATCHING, [zeros('a', [4, 3]), zeros('b', [4, 1, 2], 'INT64')], ['y'], 4],
    ['with a variable dimension of 0', BATCHING, [A, zeros('b', [2, 0, 2], 'INT64')], [], 2],
    ['of no rows', BATCHING, [zeros('a', [0, 3]), zeros('b', [0, 1, 2], 'INT64')], [], 0],
    ['to a model that does not batch', PLAIN, [zeros('x', [7, 2])], [], 1],
    ['of strings', WORDS, [{ name: 'words', datatype: 'BYTES', values: ['one', '', 'three'] }], [], 1],
  ])('%s', (_, config, inputs, outputs, batchSize) => {
    expect(check(config, inputs, outputs)).toBe(batchSize);
  });
});

describe('a request is refused', () => {
  it.each<[string, ModelConfig, TensorInit[], string[], string]>([
    [
      'for an unknown output',
      BATCHING,
      [A, B],
      ['q'],
      "unexpected inference output 'q' for model 'm'. Its outputs are 'y', 'z'",
    ],
    [
      'for an output asked twice',
      BATCHING,
      [A, B],
      ['y', 'y'],
      "output 'y' is requested twice for model 'm'; name each output once",
    ],
    [
      'for a missing input',
      BATCHING,
      [A],
      [],
      "expected number of inputs between 2 and 3 but got 1 inputs for model 'm'. Got input(s) ['a'], but missing required input(s) ['b']",
    ],
    [
      'without inputs',
      PLAIN,
      [],
      [],
      "expected 1 inputs but got 0 inputs for model 'p'. Got input(s) [], but missing required input(s) ['x']",
    ],
    [
      'for too many inputs',
      PLAIN,
      [zeros('x', [1, 2]), A],
      [],
      "expected 1 inputs but got 2 inputs for model 'p'. Got input(s) ['x', 'a']; the model has no input(s) ['a']",
    ],
    [
      'for an optional input in place of a required one',
      BATCHING,
      [A, C],
      [],
      "expected number of inputs between 2 and 3 but got 2 inputs for model 'm'. Got input(s) ['a', 'c'], but missing required input(s) ['b']",
    ],
    [
      'for an unknown input',
      BATCHING,
      [A, zeros('q', [2])],
      [],
      "unexpected inference input 'q' for model 'm'. Its inputs are 'a', 'b', 'c'",
    ],
    ['for an input given twice', BATCHING, [A, A], [], "input 'a' is given twice for model 'm'; give each input once"],
    [
      'for another datatype',
      BATCHING,
      [zeros('a', [2, 3], 'FP64'), B],
      [],
      "inference input 'a' data-type is 'FP64', but model 'm' expects 'FP32'",
    ],
    [
      'for a forgotten batch dimension',
      BATCHING,
      [zeros('a', [3]), B],
      [],
      "unexpected shape for input 'a' for model 'm'. Expected [-1,3], got [3]. The batch dimension is missing: send [1,3]",
    ],
    [
      'for another rank',
      BATCHING,
      [zeros('a', [1, 1, 3]), B],
      [],
      "unexpected shape for input 'a' for model 'm'. Expected [-1,3], got [1,1,3]. The first dimension is the batch, 1 to 4; dims in the configuration leave it out",
    ],
    [
      'for a scalar to a batching model',
      BATCHING,
      [zeros('a', []), B],
      [],
      "unexpected shape for input 'a' for model 'm'. Expected [-1,3], got []. The first dimension is the batch, 1 to 4; dims in the configuration leave it out",
    ],
    [
      'for a batch dimension that the model does not have',
      PLAIN,
      [zeros('x', [1, 7, 2])],
      [],
      "unexpected shape for input 'x' for model 'p'. Expected [-1,2], got [1,7,2]. The model has no batch dimension (max_batch_size is 0): send [7,2]",
    ],
    [
      'for another fixed dimension',
      PLAIN,
      [zeros('x', [7, 3])],
      [],
      "unexpected shape for input 'x' for model 'p'. Expected [-1,2], got [7,3].",
    ],
    [
      'for a negative dimension',
      PLAIN,
      [{ ...zeros('x', [0, 2]), shape: [-1, 2] }],
      [],
      "unexpected shape for input 'x' for model 'p'. Expected [-1,2], got [-1,2].",
    ],
    [
      'for batches that differ',
      BATCHING,
      [A, zeros('b', [3, 5, 2], 'INT64')],
      [],
      "input 'b' batch size does not match other inputs for 'm': its shape is [3,5,2], the inputs before it have 2 rows",
    ],
    [
      'for a batch above the limit',
      BATCHING,
      [zeros('a', [5, 3]), zeros('b', [5, 1, 2], 'INT64')],
      [],
      "inference request batch-size must be <= 4 for 'm'; input 'a' has shape [5,3], whose first dimension is the batch. Send smaller requests or raise max_batch_size",
    ],
    [
      'for too few bytes',
      BATCHING,
      [{ ...zeros('a', [1, 3]), shape: [2, 3] }, B],
      [],
      "input byte size mismatch for input 'a' for model 'm'. Expected 24, got 12 (FP32 [2,3])",
    ],
    [
      'for a dimension beyond all memory',
      PLAIN,
      [{ ...zeros('x', [1, 2]), shape: [Number.MAX_SAFE_INTEGER, 2] }],
      [],
      "input byte size mismatch for input 'x' for model 'p'. Expected 72057594037927930, got 8 (FP32 [9007199254740991,2])",
    ],
    [
      'for another number of strings',
      WORDS,
      [{ name: 'words', datatype: 'BYTES', values: ['one'], shape: [2] }],
      [],
      "expected 2 string elements for inference input 'words', got 1 for model 'w'",
    ],
  ])('%s', (_, config, inputs, outputs, message) => {
    expect(() => check(config, inputs, outputs)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARG', reason: 'bad-request', message }),
    );
  });
});

it('a verdict is cacheable unless an input is BYTES', () => {
  expect(new RequestCheck(BATCHING).isCacheable).toBe(true);
  expect(new RequestCheck(WORDS).isCacheable).toBe(false);
});

it('a configuration with a datatype that is none makes no check', () => {
  const config = createModelConfig({ name: 'm', input: [{ name: 'x', dims: [1] }] });
  expect(() => new RequestCheck(config)).toThrow("'x' of model 'm' has no datatype: TYPE_INVALID");
});
