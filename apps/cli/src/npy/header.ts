/**
 * The head of a .npy file:
 *
 *     \x93NUMPY  major  minor  length (2 bytes little-endian, from version 2 on 4)  text
 *
 * The text is a Python dict, `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`, padded with spaces and a newline so that the data begins at
 * a multiple of 64. Source: numpy, `numpy.lib.format`.
 */
export interface NpyHeader {
  readonly descriptor: string;
  readonly fortranOrder: boolean;
  readonly shape: readonly number[];
  /** Where the elements begin. */
  readonly dataOffset: number;
}

const MAGIC = Buffer.from('\x93NUMPY', 'latin1');
const ALIGNMENT = 64;

/** Undefined when the bytes do not begin like a .npy file. */
export function readHeader(bytes: Buffer): NpyHeader | undefined {
  if (bytes.byteLength < 12 || !bytes.subarray(0, MAGIC.byteLength).equals(MAGIC)) return undefined;
  const major = bytes.readUInt8(6);
  const [length, start] = major === 1 ? [bytes.readUInt16LE(8), 10] : [bytes.readUInt32LE(8), 12];
  if (start + length > bytes.byteLength) return undefined;
  const text = bytes.toString('utf8', start, start + length);
  const descriptor = /'descr'\s*:\s*(?:'([^']*)'|(\[))/.exec(text);
  const fortranOrder = /'fortran_order'\s*:\s*(True|False)/.exec(text)?.[1];
  const shape = /'shape'\s*:\s*\(([\d\s,L]*)\)/.exec(text)?.[1];
  if (descriptor === null || fortranOrder === undefined || shape === undefined) return undefined;
  return {
    descriptor: descriptor[1] ?? 'a record of several fields',
    fortranOrder: fortranOrder === 'True',
    shape: (shape.match(/\d+/g) ?? []).map(Number),
    dataOffset: start + length,
  };
}

/** Format version 1.0, which every numpy reads. */
export function writeHeader({ descriptor, shape }: Pick<NpyHeader, 'descriptor' | 'shape'>): Buffer {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  const text = `{'descr': '${descriptor}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const start = MAGIC.byteLength + 4;
  const byteLength = Math.ceil((start + text.length + 1) / ALIGNMENT) * ALIGNMENT;
  const header = Buffer.alloc(byteLength, ' ');
  MAGIC.copy(header);
  header.writeUInt8(1, 6);
  header.writeUInt8(0, 7);
  header.writeUInt16LE(byteLength - start, 8);
  header.write(text, start, 'latin1');
  header.write('\n', byteLength - 1);
  return header;
}
