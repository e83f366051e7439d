import { describe, expect, it } from 'vitest';
import { nearestName } from '../src/index.ts';

const FIELDS = ['name', 'platform', 'max_batch_size', 'input', 'output', 'default_model_filename', 'data_type', 'dims'];

describe('nearestName', () => {
  it.each<[word: string, nearest: string | undefined]>([
    ['nam', 'name'],
    ['naem', 'name'],
    ['maxBatchSize', 'max_batch_size'],
    ['MAX_BATCH_SIZE', 'max_batch_size'],
    ['max_batch', 'max_batch_size'],
    ['default_model_name', 'default_model_filename'],
    ['datatype', 'data_type'],
    ['inputs', 'input'],
    ['ouput', 'output'],
    ['zebra', undefined],
    ['', undefined],
    ['x'.repeat(1000), undefined],
  ])('%s', (word, nearest) => expect(nearestName(word, FIELDS)).toBe(nearest));

  it('finds the value of which the word is a whole part', () => {
    expect(nearestName('FP32', ['TYPE_FP16', 'TYPE_FP32'])).toBe('TYPE_FP32');
    expect(nearestName('gpu', ['KIND_CPU', 'KIND_GPU'])).toBe('KIND_GPU');
  });

  it('prefers the first of equals', () => {
    expect(nearestName('ac', ['ab', 'ad', 'a'])).toBeUndefined();
    expect(nearestName('abcx', ['abcy', 'abcz'])).toBe('abcy');
  });
});

describe('a datatype in the spelling of another library', () => {
  const TYPES = [
    'TYPE_BOOL',
    'TYPE_UINT8',
    'TYPE_UINT32',
    'TYPE_INT32',
    'TYPE_INT64',
    'TYPE_FP16',
    'TYPE_FP32',
    'TYPE_FP64',
    'TYPE_STRING',
    'TYPE_BF16',
  ];

  it.each([
    ['TYPE_FLOAT32', 'TYPE_FP32'],
    ['TYPE_FLOAT', 'TYPE_FP32'],
    ['FLOAT16', 'TYPE_FP16'],
    ['TYPE_DOUBLE', 'TYPE_FP64'],
    ['TYPE_BFLOAT16', 'TYPE_BF16'],
    ['TYPE_LONG', 'TYPE_INT64'],
    ['TYPE_BYTES', 'TYPE_STRING'],
    ['BOOLEAN', 'TYPE_BOOL'],
  ])('%s means %s', (word, meant) => {
    expect(nearestName(word, TYPES)).toBe(meant);
  });
});
