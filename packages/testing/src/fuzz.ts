/**
 * Time-boxed fuzzing with fast-check, as a test of vitest. In an ordinary run each target gets a fixed seed and a random one, half a second each; `npm run fuzz`
 * gives it a time and a seed of its own through the environment.
 */
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { test } from 'vitest';

const FIXED_SEED = 1;
const SHORT_MS = 500;
const MAX_SEED = 2 ** 31;

/** Processor time that one input may take. Inputs are small: it takes a fault to come near. */
const MAX_CASE_MS = 2000;

/** An input that is not done with after so long has no end, and the process is ended with it. */
const HANG_MS = 30_000;

interface Round {
  readonly seed: number;
  readonly milliseconds: number;
  /** Where in the run of that seed the failure was. */
  readonly path: string | undefined;
}

function rounds(): readonly Round[] {
  const { NEREID_FUZZ_SECONDS: seconds, NEREID_FUZZ_SEED: given, NEREID_FUZZ_PATH: path } = process.env;
  const milliseconds = seconds === undefined ? SHORT_MS : Number(seconds) * 1000;
  const random = Math.floor(Math.random() * MAX_SEED);
  if (given !== undefined) return [{ seed: Number(given), milliseconds, path }];
  if (seconds !== undefined) return [{ seed: random, milliseconds, path }];
  return [FIXED_SEED, random].map((seed) => ({ seed, milliseconds, path }));
}

/**
 * Declares the test `fuzz <target>`: no input of the property may fail it, take more than two seconds of processor time, or never end. What fails is printed, made as
 * small as it can be, with the command that repeats it.
 *
 * @param target  what `npm run fuzz -- --target` calls it
 */
export function fuzz<T>(target: string, property: fc.IRawProperty<T>): void {
  const all = rounds();
  const timeout = all.reduce((sum, { milliseconds }) => sum + 2 * milliseconds, 60_000);
  test.each(all)(
    `fuzz ${target}: seed $seed`,
    async ({ seed, milliseconds, path }) => {
      const watchdog = new Watchdog({ target, seed });
      const start = performance.now();
      try {
        const details = await fc.check(property, {
          seed,
          numRuns: MAX_SEED,
          plugins: [watched(watchdog), fc.interruptAfterTimeLimit(milliseconds)],
          ...(path !== undefined && { path }),
        });
        const spent = Math.round(performance.now() - start);
        console.log(`fuzz ${target}: seed ${seed}, ${details.numRuns} inputs in ${spent} ms`);
        if (!details.failed) return;
        const again = `npm run fuzz -- --target ${target} --seed ${seed} --path ${details.counterexamplePath}`;
        throw new Error(`repeat with: ${again}\n${fc.defaultReportMessage(details)}`, {
          cause: details.errorInstance,
        });
      } finally {
        await watchdog.close();
      }
    },
    timeout,
  );
}

/** Tells a thread when inputs begin and end. The thread ends the process when one does not end: a loop without end cannot be stopped from within. */
class Watchdog {
  /** Number of the input under way; 0 between inputs. */
  readonly #current = new Int32Array(new SharedArrayBuffer(4));
  readonly #thread: Worker;
  #count = 0;

  constructor(run: { readonly target: string; readonly seed: number }) {
    this.#thread = new Worker(WATCH, { eval: true, workerData: { current: this.#current, hangMs: HANG_MS, ...run } });
    this.#thread.unref();
  }

  begin(): void {
    this.#current[0] = ++this.#count;
  }

  end(): void {
    this.#current[0] = 0;
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }
}

const WATCH = `
const { workerData: { current, hangMs, target, seed } } = require('node:worker_threads');
const { writeSync } = require('node:fs');
let last = 0, since = Date.now();
setInterval(() => {
  if (current[0] !== last || last === 0) { last = current[0]; since = Date.now(); return; }
  if (Date.now() - since < hangMs) return;
  writeSync(2, 'fuzz ' + target + ': input ' + last + ' of seed ' + seed + ' does not end\\n');
  process.kill(process.pid, 'SIGKILL');
}, 500);
`;

/** Watches and times each input. */
function watched(watchdog: Watchdog): fc.UniversalPlugin {
  return () => ({
    decorateRun: (run) => (value) => {
      watchdog.begin();
      const before = process.cpuUsage();
      const judge = (result: Failure): Failure => {
        watchdog.end();
        const { user, system } = process.cpuUsage(before);
        const spentMs = (user + system) / 1000;
        if (result !== null || spentMs <= MAX_CASE_MS) return result;
        return { error: new Error(`the input took ${Math.round(spentMs)} ms of processor time`) };
      };
      const result = run(value);
      return result instanceof Promise ? result.then(judge) : judge(result);
    },
  });
}

type Failure = fc.PropertyFailure | fc.PreconditionFailure | null;

/** One change to bytes. `at` and `length` are fractions of what there is, so that a change means something for any input. */
type Change = (bytes: Buffer) => Buffer;

const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

const place = (bytes: Buffer, at: number) => Math.floor(at * (bytes.length + 1));

/** Integers at the edges of their types, as decoders meet them. */
const EDGES = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];

function change(dictionary: readonly (string | Buffer)[]): fc.Arbitrary<Change> {
  const words = dictionary.map((word) => Buffer.from(word));
  const insert = (piece: fc.Arbitrary<Buffer>) =>
    fc.tuple(fraction, piece).map(([at, bytes]) => replacing(at, 0, bytes));
  return fc.oneof(
    fc.tuple(fraction, fc.nat(255)).map(([at, byte]) => replacing(at, 1, Buffer.of(byte))),
    fc.tuple(fraction, fc.nat(7)).map(([at, bit]) => flipping(at, bit)),
    insert(fc.uint8Array({ minLength: 1, maxLength: 8 }).map((array) => Buffer.from(array))),
    ...(words.length === 0
      ? []
      : [
          insert(fc.constantFrom(...words)),
          fc.tuple(fraction, fc.constantFrom(...words)).map(([at, word]) => replacing(at, word.length, word)),
          fc
            .tuple(fraction, fc.constantFrom(...words), fc.integer({ min: 2, max: 300 }))
            .map(([at, word, times]) => replacing(at, 0, Buffer.concat(new Array<Buffer>(times).fill(word)))),
        ]),
    fc.tuple(fraction, fraction).map(([at, length]) => removing(at, length)),
    fc.tuple(fraction, fraction, fraction).map(([from, length, to]) => copying(from, length, to)),
    fc.tuple(fraction, fc.constantFrom(...EDGES), fc.boolean()).map(([at, edge, isLittle]) => {
      const bytes = Buffer.alloc(4);
      if (isLittle) bytes.writeUInt32LE(edge);
      else bytes.writeUInt32BE(edge);
      return replacing(at, 4, bytes);
    }),
    fraction.map(
      (at): Change =>
        (bytes) =>
          bytes.subarray(0, place(bytes, at)),
    ),
  );
}

function replacing(at: number, length: number, piece: Buffer): Change {
  return (bytes) => {
    const start = place(bytes, at);
    return Buffer.concat([bytes.subarray(0, start), piece, bytes.subarray(start + length)]);
  };
}

function flipping(at: number, bit: number): Change {
  return (bytes) => {
    const changed = Buffer.from(bytes);
    const start = Math.floor(at * bytes.length);
    if (start < changed.length) changed[start] = (changed[start] ?? 0) ^ (1 << bit);
    return changed;
  };
}

function removing(at: number, length: number): Change {
  return (bytes) => {
    const start = place(bytes, at);
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + Math.ceil(length * 16))]);
  };
}

function copying(from: number, length: number, to: number): Change {
  return (bytes) => {
    const start = place(bytes, from);
    const piece = bytes.subarray(start, start + Math.ceil(length * 64));
    const target = place(bytes, to);
    return Buffer.concat([bytes.subarray(0, target), piece, bytes.subarray(target)]);
  };
}

/**
 * Valid bytes with up to `changes` changes: bits and bytes, pieces removed, repeated and inserted, integers at the edges of their types, an end too early.
 *
 * @param valid       inputs to begin with
 * @param dictionary  pieces of the format, that random bytes would not hit
 */
export function mutated(
  valid: fc.Arbitrary<Buffer>,
  {
    dictionary = [],
    changes = 4,
  }: { readonly dictionary?: readonly (string | Buffer)[]; readonly changes?: number } = {},
): fc.Arbitrary<Buffer> {
  return fc
    .tuple(valid, fc.array(change(dictionary), { maxLength: changes }))
    .map(([bytes, list]) => list.reduce((changed, apply) => apply(changed), bytes));
}
