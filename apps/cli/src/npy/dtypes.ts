/**
 * The datatypes of numpy's files. A descriptor is byte order (`<` little, `>` big, `|` none), kind and bytes per element: `<f4`.
 * numpy has no BF16: the extension that has one writes it as two opaque bytes, `<V2`.
 */
import type { Datatype } from '@nereid/core';

export const DESCRIPTORS: Readonly<Partial<Record<Datatype, string>>> = {
  BOOL: '|b1',
  UINT8: '|u1',
  UINT16: '<u2',
  UINT32: '<u4',
  UINT64: '<u8',
  INT8: '|i1',
  INT16: '<i2',
  INT32: '<i4',
  INT64: '<i8',
  FP16: '<f2',
  FP32: '<f4',
  FP64: '<f8',
  BF16: '<V2',
};

const BY_DESCRIPTOR: ReadonlyMap<string, Datatype> = new Map([
  ...Object.entries(DESCRIPTORS).map(([datatype, descriptor]) => [descriptor, datatype as Datatype] as const),
  ['|V2', 'BF16'],
]);

/** What one element is, and its bytes in the file. */
export interface ElementType {
  readonly datatype: Datatype;
  readonly bytes: number;
  /** How text of fixed width is stored, for BYTES: `S` bytes, `U` UTF-32. */
  readonly text?: 'S' | 'U';
}

/** The type behind a descriptor that names a little-endian one; undefined for others. */
export function elementType(descriptor: string): ElementType | undefined {
  const datatype = BY_DESCRIPTOR.get(descriptor);
  if (datatype !== undefined) return { datatype, bytes: Number(descriptor.slice(2)) };
  const [, kind, width] = /^[|<]([SU])(\d+)$/.exec(descriptor) ?? [];
  if (kind === 'S') return { datatype: 'BYTES', bytes: Number(width), text: 'S' };
  return kind === 'U' ? { datatype: 'BYTES', bytes: 4 * Number(width), text: 'U' } : undefined;
}
