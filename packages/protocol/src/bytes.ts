/**
 * Bytes as text and back. Where there is Node's `Buffer` it does the work, which is what the speed of a server rests on; a browser has the same from
 * `TextDecoder` and its kin. Nothing else of this package asks where it runs, as far as clients use it.
 */

interface ByteText {
  /** Memory with any contents, aligned to 8 bytes. */
  allocate(byteLength: number): Uint8Array<ArrayBuffer>;
  /** One character per byte. */
  latin1(bytes: Uint8Array, start: number, end: number): string;
  /** What is no UTF-8 becomes U+FFFD. */
  utf8(bytes: Uint8Array, start: number, end: number): string;
  /** Bytes of the UTF-8 form; lone surrogates become U+FFFD. */
  utf8Bytes(text: string): Uint8Array<ArrayBuffer>;
  /** Writes the UTF-8 form from `at` on; the number of bytes. */
  writeUtf8(text: string, to: Uint8Array, at: number): number;
  /** Bytes of a byte string, see byte-text.ts. */
  latin1Bytes(text: string): Uint8Array<ArrayBuffer>;
}

/** As many arguments as a call takes everywhere. */
const CHUNK = 8192;

function portable(): ByteText {
  // A byte order mark is text like any other: Buffer keeps it too.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const encoder = new TextEncoder();
  return {
    allocate: (byteLength) => new Uint8Array(byteLength),
    latin1: (bytes, start, end) => {
      let text = '';
      for (let from = start; from < end; from += CHUNK)
        text += String.fromCharCode(...bytes.subarray(from, Math.min(from + CHUNK, end)));
      return text;
    },
    utf8: (bytes, start, end) => decoder.decode(bytes.subarray(start, end)),
    utf8Bytes: (text) => encoder.encode(text),
    writeUtf8: (text, to, at) => encoder.encodeInto(text, to.subarray(at)).written,
    latin1Bytes: (text) => {
      const bytes = new Uint8Array(text.length);
      for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
      return bytes;
    },
  };
}

function ofNode(): ByteText {
  return {
    allocate: (byteLength) => Buffer.allocUnsafe(byteLength),
    latin1: (bytes, start, end) => asBuffer(bytes).toString('latin1', start, end),
    utf8: (bytes, start, end) => asBuffer(bytes).toString('utf8', start, end),
    utf8Bytes: (text) => Buffer.from(text, 'utf8'),
    writeUtf8: (text, to, at) => asBuffer(to).write(text, at, 'utf8'),
    latin1Bytes: (text) => Buffer.from(text, 'latin1'),
  };
}

/** A view; bytes that are a Buffer already stay as they are. Only where there is Buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export const { allocate, latin1, utf8, utf8Bytes, writeUtf8, latin1Bytes }: ByteText =
  typeof Buffer === 'undefined' ? portable() : ofNode();
