import type { Tensor } from '@nereid/core';
import { valuesOf } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import type { SequenceControl, SequenceControlKind } from '../src/index.ts';
import { ControlTensors } from '../src/sequence-controls.ts';

const input = (name: string, control: SequenceControl) => ({ name, control: [control] });
const flag = (name: 'START' | 'END' | 'READY', values: Omit<SequenceControl, 'kind'>) =>
  input(name, { kind: `CONTROL_SEQUENCE_${name}`, ...values });
const id = (dataType: string) => input('ID', { kind: 'CONTROL_SEQUENCE_CORRID', dataType });
const values = (tensors: readonly Tensor[]) => tensors.map((tensor) => valuesOf(tensor)[0]);

const BOOL = { boolFalseTrue: [false, true] };
const FLAGS = [flag('START', BOOL), flag('END', BOOL), flag('READY', BOOL), id('TYPE_UINT64')];

describe('control tensors', () => {
  it.each([
    ['first', true, false, [1, 0, 1, 7n]],
    ['middle', false, false, [0, 0, 1, 7n]],
    ['last', false, true, [0, 1, 1, 7n]],
    ['first and last', true, true, [1, 1, 1, 7n]],
  ])('of the %s request', (_, isStart, isEnd, expected) => {
    expect(values(new ControlTensors(FLAGS, true).of(7).get(isStart, isEnd))).toEqual(expected);
  });

  it('of padding say nothing', () => {
    expect(values(new ControlTensors(FLAGS, true).padding)).toEqual([0, 0, 0, 0n]);
    expect(values(new ControlTensors([id('TYPE_STRING')], true).padding)).toEqual(['']);
  });

  it.each<[string, Omit<SequenceControl, 'kind'>, string, number, number]>([
    ['int32FalseTrue', { int32FalseTrue: [0, 1] }, 'INT32', 0, 1],
    ['inverted int32FalseTrue', { int32FalseTrue: [1, 0] }, 'INT32', 1, 0],
    ['fp32FalseTrue', { fp32FalseTrue: [-0.5, 2.5] }, 'FP32', -0.5, 2.5],
    ['boolFalseTrue', { boolFalseTrue: [false, true] }, 'BOOL', 0, 1],
    ['inverted boolFalseTrue', { boolFalseTrue: [true, false] }, 'BOOL', 1, 0],
  ])('are encoded as %s says', (_, pair, datatype, no, yes) => {
    const controls = new ControlTensors([flag('START', pair)], false).of(1);
    const [first, middle] = [controls.get(true, false), controls.get(false, false)];
    expect(first).toMatchObject([{ name: 'START', datatype, shape: [1] }]);
    expect([values(middle), values(first)]).toEqual([[no], [yes]]);
  });

  it.each<[string, string, number | bigint | string, number | bigint | string]>([
    ['TYPE_UINT64', 'UINT64', 2n ** 64n - 1n, 2n ** 64n - 1n],
    ['TYPE_INT64', 'INT64', 2n ** 64n - 1n, -1n],
    ['TYPE_UINT32', 'UINT32', 2n ** 32n + 5n, 5],
    ['TYPE_INT32', 'INT32', 2 ** 31, -(2 ** 31)],
    ['TYPE_STRING', 'BYTES', 'größe 7', 'größe 7'],
  ])('give the correlation ID as %s', (dataType, datatype, value, expected) => {
    const [tensor] = new ControlTensors([id(dataType)], true).of(value).get(false, false);
    expect(tensor).toMatchObject({ name: 'ID', datatype, shape: [1, 1] });
    expect(tensor && valuesOf(tensor)).toEqual([expected]);
  });

  it('are in the order of the configuration, and only those that it names', () => {
    const controls = new ControlTensors([id('TYPE_INT32'), flag('END', BOOL)], false);
    expect(
      controls
        .of(3)
        .get(true, true)
        .map(({ name }) => name),
    ).toEqual(['ID', 'END']);
    expect(new ControlTensors([], true).of(3).get(true, true)).toEqual([]);
  });

  it('are made once for what is the same', () => {
    const controls = new ControlTensors(FLAGS, true).of(3);
    expect(controls.get(false, false)).toBe(controls.get(false, false));
  });

  it.each<[SequenceControlKind, Omit<SequenceControl, 'kind'>, string]>([
    ['CONTROL_SEQUENCE_START', {}, "control tensor 'x' needs int32FalseTrue, fp32FalseTrue or boolFalseTrue"],
    ['CONTROL_SEQUENCE_END', { fp32FalseTrue: [1] }, "control tensor 'x' needs int32FalseTrue"],
    ['CONTROL_SEQUENCE_CORRID', { dataType: 'TYPE_FP32' }, "the correlation ID 'x' must be TYPE_UINT64"],
    ['CONTROL_SEQUENCE_CORRID', {}, 'got none'],
  ])('of %s cannot be made of %j', (kind, rest, message) => {
    expect(() => new ControlTensors([input('x', { kind, ...rest })], true)).toThrow(message);
  });
});
