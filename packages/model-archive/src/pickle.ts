/**
 * Looks at a pickle without executing it: builds a picture of the pickled value from the opcodes and names what would have been imported.
 *
 * Nothing is ever called. A call (REDUCE, NEWOBJ …) becomes an object that remembers what was called, an import (GLOBAL, STACK_GLOBAL) its
 * dotted name. Memory is linear in the size of the pickle: the memo holds references.
 * Source: CPython `Lib/pickletools.py`, protocols 0 to 5.
 */
import { ByteReader, OutOfBytes } from './byte-reader.ts';

/** Picture of a pickled value. */
export type PickleValue =
  | { readonly kind: 'global'; readonly name: string }
  | PickledObject
  | { readonly kind: 'dict'; readonly entries: Map<string, PickleValue> }
  | { readonly kind: 'sequence'; readonly items: PickleValue[] }
  | { readonly kind: 'persistent'; readonly id: PickleValue }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'integer'; readonly value: number }
  | { readonly kind: 'other' };

/** The result of calling `callee` with `args`; what was set on it later. */
export interface PickledObject {
  readonly kind: 'object';
  /** Dotted name of the class or function, e.g. `collections.OrderedDict`. */
  readonly callee: string;
  readonly args: PickleValue;
  readonly entries: Map<string, PickleValue>;
  state: PickleValue | undefined;
}

export interface PickleScan {
  /** The pickled value; undefined when the bytes are no complete pickle. */
  readonly value: PickleValue | undefined;
  /** Dotted names of everything that unpickling would import, in order, each once. */
  readonly globals: readonly string[];
  /** Bytes up to and including the STOP. */
  readonly byteLength: number;
}

/** Scans the pickle at the start of `bytes`. Never throws: broken bytes give no value. */
export function scanPickle(bytes: Uint8Array): PickleScan {
  const machine = new Machine(new ByteReader(bytes));
  const value = machine.run();
  return { value, globals: [...machine.globals], byteLength: machine.position };
}

const OTHER: PickleValue = { kind: 'other' };

class Machine {
  readonly globals = new Set<string>();
  readonly #bytes: ByteReader;
  #stack: PickleValue[] = [];
  readonly #marks: PickleValue[][] = [];
  readonly #memo = new Map<number, PickleValue>();

  constructor(bytes: ByteReader) {
    this.#bytes = bytes;
  }

  get position(): number {
    return this.#bytes.position;
  }

  run(): PickleValue | undefined {
    try {
      for (let opcode = this.#bytes.u8(); opcode !== STOP; opcode = this.#bytes.u8()) {
        const step = STEPS[opcode];
        if (step === undefined) return undefined;
        step(this, this.#bytes);
      }
      return this.#stack.pop();
    } catch (error) {
      if (error instanceof OutOfBytes) return undefined;
      throw error;
    }
  }

  push(value: PickleValue): void {
    this.#stack.push(value);
  }

  pop(): PickleValue {
    return this.#stack.pop() ?? OTHER;
  }

  top(): PickleValue {
    return this.#stack.at(-1) ?? OTHER;
  }

  mark(): void {
    this.#marks.push(this.#stack);
    this.#stack = [];
  }

  popMark(): PickleValue[] {
    const items = this.#stack;
    this.#stack = this.#marks.pop() ?? [];
    return items;
  }

  popSequence(count: number): void {
    const items = this.#stack.splice(Math.max(this.#stack.length - count, 0));
    this.push({ kind: 'sequence', items });
  }

  put(index = this.#memo.size): void {
    this.#memo.set(index, this.top());
  }

  get(index: number): void {
    this.push(this.#memo.get(index) ?? OTHER);
  }

  pushGlobal(module: string, name: string): void {
    const dotted = `${module}.${name}`;
    this.globals.add(dotted);
    this.push({ kind: 'global', name: dotted });
  }

  call(callable: PickleValue, args: PickleValue): void {
    this.push({ kind: 'object', callee: calleeOf(callable), args, entries: new Map(), state: undefined });
  }

  setItems(items: readonly PickleValue[]): void {
    const target = this.top();
    if (target.kind !== 'dict' && target.kind !== 'object') return;
    for (let index = 0; index + 1 < items.length; index += 2) {
      const key = items[index];
      const value = items[index + 1];
      if (key?.kind === 'string' && value !== undefined) target.entries.set(key.value, value);
    }
  }

  append(items: readonly PickleValue[]): void {
    const target = this.top();
    if (target.kind === 'sequence') for (const item of items) target.items.push(item);
  }

  build(state: PickleValue): void {
    const target = this.top();
    if (target.kind === 'object') target.state = state;
  }
}

/** torch.save's old format stores a module's class as the persistent id `('module', class, file, source)`. */
function calleeOf(callable: PickleValue): string {
  if (callable.kind === 'global') return callable.name;
  if (callable.kind === 'persistent' && callable.id.kind === 'sequence') {
    const type = callable.id.items[1];
    if (type?.kind === 'global') return type.name;
  }
  return 'unknown';
}

const STOP = 0x2e;

type Step = (machine: Machine, bytes: ByteReader) => void;

const string = (value: string): PickleValue => ({ kind: 'string', value });
const pushOther: Step = (machine) => machine.push(OTHER);
const skip =
  (count: number): Step =>
  (_machine, bytes) =>
    bytes.skip(count);
const otherOf =
  (read: (bytes: ByteReader) => unknown): Step =>
  (machine, bytes) => {
    read(bytes);
    machine.push(OTHER);
  };
const textOf =
  (read: (bytes: ByteReader) => string): Step =>
  (machine, bytes) =>
    machine.push(string(read(bytes)));
const integerOf =
  (read: (bytes: ByteReader) => number): Step =>
  (machine, bytes) =>
    machine.push({ kind: 'integer', value: read(bytes) });
const containerFromMark =
  (make: (items: PickleValue[]) => PickleValue): Step =>
  (machine) =>
    machine.push(make(machine.popMark()));

const op = (character: string) => character.charCodeAt(0);

/** One step per opcode byte; an opcode without one makes the bytes no pickle. */
const STEPS: Readonly<Partial<Record<number, Step>>> = {
  // Protocol and framing
  128: skip(1),
  149: skip(8),
  // Stack: MARK POP POP_MARK DUP
  [op('(')]: (machine) => machine.mark(),
  [op('0')]: (machine) => void machine.pop(),
  [op('1')]: (machine) => void machine.popMark(),
  [op('2')]: (machine) => machine.push(machine.top()),
  // Memo: get, put, MEMOIZE
  [op('g')]: (machine, bytes) => machine.get(Number(bytes.line())),
  [op('h')]: (machine, bytes) => machine.get(bytes.u8()),
  [op('j')]: (machine, bytes) => machine.get(bytes.u32()),
  [op('p')]: (machine, bytes) => machine.put(Number(bytes.line())),
  [op('q')]: (machine, bytes) => machine.put(bytes.u8()),
  [op('r')]: (machine, bytes) => machine.put(bytes.u32()),
  148: (machine) => machine.put(),
  // Numbers, None, LONG1 and LONG4, True and False
  [op('F')]: otherOf((bytes) => bytes.line()),
  [op('I')]: integerOf((bytes) => Number(bytes.line())),
  [op('J')]: integerOf((bytes) => bytes.integer(4)),
  [op('K')]: integerOf((bytes) => bytes.u8()),
  [op('L')]: integerOf((bytes) => Number(bytes.line().replace(/L$/, ''))),
  [op('M')]: integerOf((bytes) => bytes.u8() + 256 * bytes.u8()),
  [op('N')]: pushOther,
  [op('G')]: otherOf((bytes) => bytes.skip(8)),
  138: integerOf((bytes) => bytes.integer(bytes.u8())),
  139: integerOf((bytes) => bytes.integer(bytes.u32())),
  136: (machine) => machine.push({ kind: 'boolean', value: true }),
  137: (machine) => machine.push({ kind: 'boolean', value: false }),
  // Strings, the last two of protocol 4
  [op('S')]: textOf((bytes) => bytes.line().replace(/^(['"])(.*)\1$/s, '$2')),
  [op('T')]: textOf((bytes) => bytes.text(bytes.u32())),
  [op('U')]: textOf((bytes) => bytes.text(bytes.u8())),
  [op('V')]: textOf((bytes) => bytes.line()),
  [op('X')]: textOf((bytes) => bytes.text(bytes.u32())),
  140: textOf((bytes) => bytes.text(bytes.u8())),
  141: textOf((bytes) => bytes.text(bytes.u64())),
  // Bytes, BINBYTES8 BYTEARRAY8, out-of-band buffers
  [op('B')]: otherOf((bytes) => bytes.skip(bytes.u32())),
  [op('C')]: otherOf((bytes) => bytes.skip(bytes.u8())),
  142: otherOf((bytes) => bytes.skip(bytes.u64())),
  150: otherOf((bytes) => bytes.skip(bytes.u64())),
  151: pushOther,
  152: () => {},
  // Tuples (TUPLE1 to 3), lists, sets (EMPTY_SET ADDITEMS FROZENSET)
  [op(')')]: (machine) => machine.push({ kind: 'sequence', items: [] }),
  [op('t')]: containerFromMark((items) => ({ kind: 'sequence', items })),
  133: (machine) => machine.popSequence(1),
  134: (machine) => machine.popSequence(2),
  135: (machine) => machine.popSequence(3),
  [op(']')]: (machine) => machine.push({ kind: 'sequence', items: [] }),
  [op('l')]: containerFromMark((items) => ({ kind: 'sequence', items })),
  [op('a')]: (machine) => machine.append([machine.pop()]),
  [op('e')]: (machine) => machine.append(machine.popMark()),
  143: (machine) => machine.push({ kind: 'sequence', items: [] }),
  144: (machine) => machine.append(machine.popMark()),
  145: containerFromMark((items) => ({ kind: 'sequence', items })),
  // Dicts
  [op('}')]: (machine) => machine.push({ kind: 'dict', entries: new Map() }),
  [op('d')]: (machine) => {
    const items = machine.popMark();
    machine.push({ kind: 'dict', entries: new Map() });
    machine.setItems(items);
  },
  [op('s')]: (machine) => {
    const value = machine.pop();
    machine.setItems([machine.pop(), value]);
  },
  [op('u')]: (machine) => machine.setItems(machine.popMark()),
  // Imports and calls: GLOBAL STACK_GLOBAL EXT1 EXT2 EXT4 INST OBJ REDUCE NEWOBJ NEWOBJ_EX BUILD, persistent ids
  [op('c')]: (machine, bytes) => machine.pushGlobal(bytes.line(), bytes.line()),
  147: (machine) => {
    const name = machine.pop();
    const module = machine.pop();
    if (name.kind === 'string' && module.kind === 'string') machine.pushGlobal(module.value, name.value);
    else machine.push(OTHER);
  },
  130: otherOf((bytes) => bytes.skip(1)),
  131: otherOf((bytes) => bytes.skip(2)),
  132: otherOf((bytes) => bytes.skip(4)),
  [op('i')]: (machine, bytes) => {
    const items = machine.popMark();
    machine.pushGlobal(bytes.line(), bytes.line());
    machine.call(machine.pop(), { kind: 'sequence', items });
  },
  [op('o')]: (machine) => {
    const [callable = OTHER, ...items] = machine.popMark();
    machine.call(callable, { kind: 'sequence', items });
  },
  [op('R')]: callWith(1),
  129: callWith(1),
  146: callWith(2),
  [op('b')]: (machine) => machine.build(machine.pop()),
  [op('P')]: otherOf((bytes) => bytes.line()),
  [op('Q')]: (machine) => machine.push({ kind: 'persistent', id: machine.pop() }),
};

/** Calls the value below `count` arguments; the first of those is what the picture keeps. */
function callWith(count: 1 | 2): Step {
  return (machine) => {
    if (count === 2) machine.pop();
    const args = machine.pop();
    machine.call(machine.pop(), args);
  };
}
