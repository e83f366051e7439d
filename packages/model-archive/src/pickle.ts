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
const containerFromMark =
  (make: (items: PickleValue[]) => PickleValue): Step =>
  (machine) =>
    machine.push(make(machine.popMark()));

/** One step per opcode byte; an opcode without one makes the bytes no pickle. */
const STEPS: Readonly<Partial<Record<number, Step>>> = {
  // Protocol and framing
  128: skip(1),
  149: skip(8),
  // Stack
  40: (machine) => machine.mark(),
  48: (machine) => void machine.pop(),
  49: (machine) => void machine.popMark(),
  50: (machine) => machine.push(machine.top()),
  // Memo: g h j get, p q r put, MEMOIZE
  103: (machine, bytes) => machine.get(Number(bytes.line())),
  104: (machine, bytes) => machine.get(bytes.u8()),
  106: (machine, bytes) => machine.get(bytes.u32()),
  112: (machine, bytes) => machine.put(Number(bytes.line())),
  113: (machine, bytes) => machine.put(bytes.u8()),
  114: (machine, bytes) => machine.put(bytes.u32()),
  148: (machine) => machine.put(),
  // Numbers and None: F I J K L M N G LONG1 LONG4
  70: otherOf((bytes) => bytes.line()),
  73: otherOf((bytes) => bytes.line()),
  74: otherOf((bytes) => bytes.skip(4)),
  75: otherOf((bytes) => bytes.skip(1)),
  76: otherOf((bytes) => bytes.line()),
  77: otherOf((bytes) => bytes.skip(2)),
  78: pushOther,
  71: otherOf((bytes) => bytes.skip(8)),
  138: otherOf((bytes) => bytes.skip(bytes.u8())),
  139: otherOf((bytes) => bytes.skip(bytes.u32())),
  136: (machine) => machine.push({ kind: 'boolean', value: true }),
  137: (machine) => machine.push({ kind: 'boolean', value: false }),
  // Strings: S T U V X and the three of protocol 4
  83: textOf((bytes) => bytes.line().replace(/^(['"])(.*)\1$/s, '$2')),
  84: textOf((bytes) => bytes.text(bytes.u32())),
  85: textOf((bytes) => bytes.text(bytes.u8())),
  86: textOf((bytes) => bytes.line()),
  88: textOf((bytes) => bytes.text(bytes.u32())),
  140: textOf((bytes) => bytes.text(bytes.u8())),
  141: textOf((bytes) => bytes.text(bytes.u64())),
  // Bytes: B C BINBYTES8 BYTEARRAY8, out-of-band buffers
  66: otherOf((bytes) => bytes.skip(bytes.u32())),
  67: otherOf((bytes) => bytes.skip(bytes.u8())),
  142: otherOf((bytes) => bytes.skip(bytes.u64())),
  150: otherOf((bytes) => bytes.skip(bytes.u64())),
  151: pushOther,
  152: () => {},
  // Tuples, lists, sets: ) t TUPLE1..3 ] l a e EMPTY_SET ADDITEMS FROZENSET
  41: (machine) => machine.push({ kind: 'sequence', items: [] }),
  116: containerFromMark((items) => ({ kind: 'sequence', items })),
  133: (machine) => machine.popSequence(1),
  134: (machine) => machine.popSequence(2),
  135: (machine) => machine.popSequence(3),
  93: (machine) => machine.push({ kind: 'sequence', items: [] }),
  108: containerFromMark((items) => ({ kind: 'sequence', items })),
  97: (machine) => machine.append([machine.pop()]),
  101: (machine) => machine.append(machine.popMark()),
  143: (machine) => machine.push({ kind: 'sequence', items: [] }),
  144: (machine) => machine.append(machine.popMark()),
  145: containerFromMark((items) => ({ kind: 'sequence', items })),
  // Dicts: } d s u
  125: (machine) => machine.push({ kind: 'dict', entries: new Map() }),
  100: (machine) => {
    const items = machine.popMark();
    machine.push({ kind: 'dict', entries: new Map() });
    machine.setItems(items);
  },
  115: (machine) => {
    const value = machine.pop();
    machine.setItems([machine.pop(), value]);
  },
  117: (machine) => machine.setItems(machine.popMark()),
  // Imports and calls: c STACK_GLOBAL, EXT1..4, i o R NEWOBJ NEWOBJ_EX b, P Q
  99: (machine, bytes) => machine.pushGlobal(bytes.line(), bytes.line()),
  147: (machine) => {
    const name = machine.pop();
    const module = machine.pop();
    if (name.kind === 'string' && module.kind === 'string') machine.pushGlobal(module.value, name.value);
    else machine.push(OTHER);
  },
  130: otherOf((bytes) => bytes.skip(1)),
  131: otherOf((bytes) => bytes.skip(2)),
  132: otherOf((bytes) => bytes.skip(4)),
  105: (machine, bytes) => {
    const items = machine.popMark();
    machine.pushGlobal(bytes.line(), bytes.line());
    machine.call(machine.pop(), { kind: 'sequence', items });
  },
  111: (machine) => {
    const [callable = OTHER, ...items] = machine.popMark();
    machine.call(callable, { kind: 'sequence', items });
  },
  82: callWith(1),
  129: callWith(1),
  146: callWith(2),
  98: (machine) => machine.build(machine.pop()),
  80: otherOf((bytes) => bytes.line()),
  81: (machine) => machine.push({ kind: 'persistent', id: machine.pop() }),
};

/** Calls the value below `count` arguments; the first of those is what the picture keeps. */
function callWith(count: 1 | 2): Step {
  return (machine) => {
    if (count === 2) machine.pop();
    const args = machine.pop();
    machine.call(machine.pop(), args);
  };
}
