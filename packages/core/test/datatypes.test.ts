import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { DATATYPES, type Datatype, datatypeFromConfig, datatypeToConfig, isDatatype } from '../src/index.ts';

const PYTHON = fileURLToPath(new URL('../../../.venv/bin/python', import.meta.url));

/** What the real client libraries say: numbers of the configuration's enum, numpy's item sizes and kinds by wire name. */
const REFERENCE = `
import json, numpy
from tritonclient.grpc import model_config_pb2
from tritonclient.utils import triton_to_np_dtype
sizes = {}
for name in json.loads(input()):
    dtype = triton_to_np_dtype(name)
    sizes[name] = None if dtype is None or dtype is numpy.object_ else [numpy.dtype(dtype).itemsize, numpy.dtype(dtype).kind]
print(json.dumps({"numbers": dict(model_config_pb2.DataType.items()), "sizes": sizes}))
`;

const NAMES = Object.keys(DATATYPES).filter(isDatatype);
const { numbers, sizes }: { numbers: Record<string, number>; sizes: Record<string, [number, string] | null> } =
  JSON.parse(execFileSync(PYTHON, ['-c', REFERENCE], { input: `${JSON.stringify(NAMES)}\n`, encoding: 'utf8' }));

/** numpy's kind of the elements. BF16 is the client's own extension type, which numpy sees as void of two bytes. */
function kindOf(name: Datatype): string {
  const { array } = DATATYPES[name];
  if (name === 'BOOL') return 'b';
  if (name === 'BF16') return 'V';
  if (name === 'FP16' || array === Float32Array || array === Float64Array) return 'f';
  return array.name.includes('Uint') ? 'u' : 'i';
}

describe('the table of datatypes', () => {
  it('has every datatype of a model configuration under its number', () => {
    const ours = NAMES.map((name) => [DATATYPES[name].configName, DATATYPES[name].configNumber]);
    expect(Object.fromEntries([...ours, ['TYPE_INVALID', 0]])).toEqual(numbers);
  });

  it.each(NAMES.filter((name) => sizes[name]))('%s has the element size and kind of its numpy type', (name) => {
    expect([DATATYPES[name].byteSize, kindOf(name)]).toEqual(sizes[name]);
  });

  it('has no element size for BYTES, whose elements carry their length', () => {
    expect(DATATYPES.BYTES.byteSize).toBe(0);
    expect(sizes.BYTES).toBeNull();
  });

  it.each(NAMES.filter((name) => name !== 'BYTES'))('%s is viewed by a typed array of its element size', (name) => {
    expect(DATATYPES[name].array.BYTES_PER_ELEMENT).toBe(DATATYPES[name].byteSize);
  });
});

describe('names of datatypes', () => {
  it.each(NAMES)('%s survives the way to its configuration spelling and back', (name) => {
    expect(datatypeFromConfig(datatypeToConfig(name))).toBe(name);
  });

  it.each(['TYPE_INVALID', 'FP32', 'type_fp32', '', 'toString'])("'%s' is no configuration spelling", (name) => {
    expect(datatypeFromConfig(name)).toBeUndefined();
  });

  it.each(['fp32', 'TYPE_FP32', '', 'STRING', 'toString', '__proto__'])("'%s' is no wire name", (name) => {
    expect(isDatatype(name)).toBe(false);
  });
});
