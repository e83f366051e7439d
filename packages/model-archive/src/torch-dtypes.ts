import type { Datatype } from '@nereid/core';

const DATATYPES: ReadonlyMap<string, Datatype> = new Map([
  ['bool', 'BOOL'],
  ['uint8', 'UINT8'],
  ['uint16', 'UINT16'],
  ['uint32', 'UINT32'],
  ['uint64', 'UINT64'],
  ['int8', 'INT8'],
  ['int16', 'INT16'],
  ['int32', 'INT32'],
  ['int64', 'INT64'],
  ['float16', 'FP16'],
  ['bfloat16', 'BF16'],
  ['float32', 'FP32'],
  ['float64', 'FP64'],
]);

/** Datatype of torch's name, e.g. `float32` → FP32; undefined for those that no request can carry (complex, float8, quantised). */
export function datatypeFromTorch(name: string): Datatype | undefined {
  return DATATYPES.get(name);
}
