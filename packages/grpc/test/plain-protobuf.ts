/** A reader of protobuf by the plainest means, for comparison. */

export interface PlainField {
  readonly number: number;
  /** An integer, or bytes. */
  readonly value: bigint | Buffer;
  readonly wireType: number;
}

/** @throws {RangeError} for bytes that are no message */
export function fieldsOf(bytes: Buffer): readonly PlainField[] {
  const fields: PlainField[] = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let i = 0n; i < 10n; i++) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << (7n * i);
      if (byte < 0x80) return value;
    }
    throw new RangeError('a varint without end');
  };
  const piece = (length: number) => {
    if (at + length > bytes.length) throw new RangeError('an end too early');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = varint();
    const wireType = Number(tag & 7n);
    const number = Number(tag >> 3n);
    if (number === 0 || tag >= 2n ** 32n) throw new RangeError(`field ${number}`);
    if (wireType === 0) fields.push({ number, wireType, value: varint() });
    else if (wireType === 1) fields.push({ number, wireType, value: piece(8) });
    else if (wireType === 2) fields.push({ number, wireType, value: piece(Number(varint())) });
    else if (wireType === 5) fields.push({ number, wireType, value: piece(4) });
    else throw new RangeError(`wire type ${wireType}`);
  }
  return fields;
}

export function bytesFields(fields: readonly PlainField[], number: number): readonly Buffer[] {
  return fields.flatMap((field) =>
    field.number === number && field.wireType === 2 && typeof field.value !== 'bigint' ? [field.value] : [],
  );
}

/** The integers of a repeated field, one by one or packed. */
export function integers(fields: readonly PlainField[], number: number): readonly bigint[] {
  return fields.flatMap((field) => {
    if (field.number !== number) return [];
    if (typeof field.value === 'bigint') return [field.value];
    return field.wireType === 2 ? unpacked(field.value) : [];
  });
}

/** The varints that follow each other. */
function unpacked(bytes: Buffer): readonly bigint[] {
  const values: bigint[] = [];
  let value = 0n;
  let shift = 0n;
  for (const byte of bytes) {
    value |= BigInt(byte & 0x7f) << shift;
    shift += 7n;
    if (byte >= 0x80) continue;
    values.push(value);
    value = 0n;
    shift = 0n;
  }
  return values;
}

/** The pieces of `size` bytes of a repeated field, one by one or packed. */
export function pieces(fields: readonly PlainField[], number: number, size: 4 | 8): readonly Buffer[] {
  const wireType = size === 4 ? 5 : 1;
  return fields.flatMap((field) => {
    const { value } = field;
    if (field.number !== number || typeof value === 'bigint') return [];
    if (field.wireType === wireType) return [value];
    if (field.wireType !== 2) return [];
    return Array.from({ length: Math.floor(value.length / size) }, (_, i) => value.subarray(i * size, (i + 1) * size));
  });
}
