/**
 * The Huffman code of header strings. It is canonical: the lengths of the codes give the codes. Strings are decoded four bits at a time: no code is shorter
 * than five, so that four bits complete at most one symbol. Source: RFC 7541, 5.2 and Appendix B.
 */
import { ConnectionFault, H2 } from '../faults.ts';

/** Bits of the code of each octet, and of the end of the string after them, as digits of base 32. */
const CODE_LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde6' +
  'f56565666577666567655677777fbedskmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrqu';

const END = 256;
/** Bits that may follow the last symbol; they are all ones. */
const LONGEST_PADDING = 7;
const NIBBLES = 16;

interface Node {
  /** Of an inner node, for the bits 0 and 1. */
  readonly next: [Node | undefined, Node | undefined];
  /** Of a leaf. */
  symbol: number | undefined;
  /** Place of an inner node in the table. */
  state: number;
  mayEnd: boolean;
}

const newNode = (): Node => ({ next: [undefined, undefined], symbol: undefined, state: 0, mayEnd: false });

function buildTree(): Node {
  const root = newNode();
  const lengths = [...CODE_LENGTHS].map((digit) => Number.parseInt(digit, 32));
  const order = lengths.map((_, symbol) => symbol).sort((a, b) => at(lengths, a) - at(lengths, b) || a - b);
  let code = 0;
  let last = 0;
  for (const symbol of order) {
    const length = at(lengths, symbol);
    code *= 2 ** (length - last);
    last = length;
    let node = root;
    for (let bit = length - 1; bit >= 0; bit--) {
      const side = Math.floor(code / 2 ** bit) % 2 === 0 ? 0 : 1;
      node.next[side] ??= newNode();
      node = node.next[side] as Node;
    }
    node.symbol = symbol;
    code++;
  }
  return root;
}

function at(list: readonly number[], index: number): number {
  return list[index] ?? 0;
}

/** By state and four bits: the next state, or FAILED; and the symbol that they complete, or NONE. */
interface Tables {
  readonly next: Int16Array;
  readonly symbol: Int16Array;
  readonly mayEnd: Uint8Array;
}

const FAILED = -1;
const NONE = -1;

function buildTables(): Tables {
  const root = buildTree();
  const inner = innerNodes(root);
  let ones: Node | undefined = root;
  for (let depth = 0; depth <= LONGEST_PADDING && ones !== undefined; depth++) {
    ones.mayEnd = true;
    ones = ones.next[1];
  }
  const next = new Int16Array(inner.length * NIBBLES);
  const symbol = new Int16Array(inner.length * NIBBLES).fill(NONE);
  for (const [state, start] of inner.entries()) {
    for (let bits = 0; bits < NIBBLES; bits++) {
      const step = walk(root, start, bits);
      next[state * NIBBLES + bits] = step.state;
      symbol[state * NIBBLES + bits] = step.symbol;
    }
  }
  return { next, symbol, mayEnd: Uint8Array.from(inner, ({ mayEnd }) => Number(mayEnd)) };
}

function innerNodes(root: Node): readonly Node[] {
  const inner: Node[] = [root];
  for (const node of inner) {
    for (const child of node.next) {
      if (child === undefined || child.symbol !== undefined) continue;
      child.state = inner.length;
      inner.push(child);
    }
  }
  return inner;
}

function walk(root: Node, start: Node, bits: number): { readonly state: number; readonly symbol: number } {
  let node = start;
  let symbol = NONE;
  for (let bit = 3; bit >= 0; bit--) {
    node = node.next[(bits >> bit) & 1 ? 1 : 0] ?? root;
    if (node.symbol === undefined) continue;
    if (node.symbol === END) return { state: FAILED, symbol: NONE };
    symbol = node.symbol;
    node = root;
  }
  return { state: node.state, symbol };
}

let tables: Tables | undefined;

/**
 * Text of a Huffman-coded string, one character an octet.
 * @throws {ConnectionFault} COMPRESSION_ERROR for the code of the end, and for padding that is too long or not of ones
 */
export function decodeHuffman(bytes: Buffer, start: number, end: number): string {
  tables ??= buildTables();
  const { next, symbol, mayEnd } = tables;
  const decoded = Buffer.allocUnsafe(Math.ceil(((end - start) * 8) / 5));
  let length = 0;
  let state = 0;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0;
    for (let shift = 4; shift >= 0; shift -= 4) {
      const index = state * NIBBLES + ((byte >> shift) & 15);
      state = next[index] ?? FAILED;
      if (state === FAILED) throw broken();
      const found = symbol[index] ?? NONE;
      if (found !== NONE) decoded[length++] = found;
    }
  }
  if (mayEnd[state] !== 1) throw broken();
  return decoded.toString('latin1', 0, length);
}

function broken(): ConnectionFault {
  return new ConnectionFault(H2.COMPRESSION_ERROR, 'a header string is not Huffman-coded');
}
