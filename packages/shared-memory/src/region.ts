/**
 * A registered region: a file in memory that stays open, read and written by position. It is never mapped: a client that makes its file shorter would end a process
 * that has it mapped (SIGBUS), while a read merely comes back short.
 */
import { closeSync, constants, fstatSync, openSync, read, readSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { SharedMemoryError } from './errors.ts';

/** What a client registers. */
export interface RegionInit {
  readonly name: string;
  /** Name of the POSIX object, as `shm_open` takes it. */
  readonly key: string;
  /** Where in the object the region begins, in bytes. */
  readonly offset: number;
  readonly byteSize: number;
}

/** What Linux moves at most in one call. */
const MAX_TRANSFER_BYTES = 0x7fff_f000;

/** `O_NONBLOCK` because what bears the name may be no plain file, and then opening it must not wait. */
const OPEN_FLAGS = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const readBeside = promisify(read);
const writeBeside = promisify(write);

/** Bytes of a region that are checked to lie in it. */
export interface Range {
  readonly offset: number;
  readonly byteSize: number;
}

export class Region {
  readonly init: RegionInit;
  readonly #descriptor: number;
  readonly #syncBytes: number;
  /** Whoever may still read or write: the registry, requests, and transfers under way. */
  #holders = 1;

  /**
   * Opens the object; the caller is its first holder.
   * @throws {SharedMemoryError} `not-opened`, `bad-region`
   */
  constructor(init: RegionInit, { path, syncBytes }: { readonly path: string; readonly syncBytes: number }) {
    this.init = init;
    this.#syncBytes = syncBytes;
    this.#descriptor = open(init, path);
  }

  hold(): void {
    this.#holders++;
  }

  /** Closes the file with its last holder. */
  letGo(): void {
    this.#holders--;
    if (this.#holders === 0) closeSync(this.#descriptor);
  }

  /**
   * Copies a range out of the region: at once up to `syncBytes`, beside the event loop above.
   * @throws {SharedMemoryError} `bad-part` when the object has become too short, `io`; also as a rejection
   */
  read(range: Range): Buffer | Promise<Buffer> {
    const position = this.#positionOf(range);
    const target = Buffer.allocUnsafe(range.byteSize);
    if (target.length > this.#syncBytes) return this.#beside(() => this.#readBeside(target, position, range));
    for (let done = 0; done < target.length; ) {
      const got = this.#guard(() => readSync(this.#descriptor, target, done, target.length - done, position + done));
      if (got === 0) throw this.#tooShort(range);
      done += got;
    }
    return target;
  }

  /**
   * Copies bytes to the beginning of a range that holds them. They must stay unchanged until then.
   * @throws {SharedMemoryError} as `read` does
   */
  write(range: Range, bytes: Uint8Array): Promise<void> | undefined {
    const position = this.#positionOf(range);
    if (bytes.length > this.#syncBytes) return this.#beside(() => this.#writeBeside(bytes, position));
    for (let done = 0; done < bytes.length; ) {
      done += this.#guard(() => writeSync(this.#descriptor, bytes, done, bytes.length - done, position + done));
    }
    return undefined;
  }

  /** Position of a range in the object. Looked at anew each time: its owner may shorten the object, and a write beyond the end would lengthen it again. */
  #positionOf(range: Range): number {
    const position = this.init.offset + range.offset;
    const { size } = this.#guard(() => fstatSync(this.#descriptor));
    if (position + range.byteSize > size) throw this.#tooShort(range);
    return position;
  }

  async #readBeside(target: Buffer, position: number, range: Range): Promise<Buffer> {
    for (let done = 0; done < target.length; ) {
      const length = Math.min(target.length - done, MAX_TRANSFER_BYTES);
      const { bytesRead } = await readBeside(this.#descriptor, target, done, length, position + done);
      if (bytesRead === 0) throw this.#tooShort(range);
      done += bytesRead;
    }
    return target;
  }

  async #writeBeside(bytes: Uint8Array, position: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const length = Math.min(bytes.length - done, MAX_TRANSFER_BYTES);
      done += (await writeBeside(this.#descriptor, bytes, done, length, position + done)).bytesWritten;
    }
  }

  /** The file stays open while a transfer runs: its number may be given to another once it is closed. */
  async #beside<T>(transfer: () => Promise<T>): Promise<T> {
    this.hold();
    try {
      return await transfer();
    } catch (thrown) {
      throw this.#failure(thrown);
    } finally {
      this.letGo();
    }
  }

  #guard<T>(run: () => T): T {
    try {
      return run();
    } catch (thrown) {
      throw this.#failure(thrown);
    }
  }

  #failure(thrown: unknown): SharedMemoryError {
    if (thrown instanceof SharedMemoryError) return thrown;
    const { name, key } = this.init;
    const text = `shared memory region '${name}' (key '${key}') could not be used: ${String(thrown)}`;
    return new SharedMemoryError('io', text, { cause: thrown });
  }

  #tooShort({ offset, byteSize }: Range): SharedMemoryError {
    const { name, key } = this.init;
    return new SharedMemoryError(
      'bad-part',
      `the object '${key}' of shared memory region '${name}' has become too short for ${byteSize} bytes at offset ${offset}: register it again`,
    );
  }
}

function open(init: RegionInit, path: string): number {
  let descriptor: number;
  try {
    descriptor = openSync(path, OPEN_FLAGS);
  } catch (thrown) {
    throw notOpened(init, String(thrown), thrown);
  }
  try {
    assertFits(init, descriptor);
    return descriptor;
  } catch (thrown) {
    closeSync(descriptor);
    throw thrown;
  }
}

function assertFits(init: RegionInit, descriptor: number): void {
  const { name, key, offset, byteSize } = init;
  const stat = fstatSync(descriptor);
  if (!stat.isFile()) throw notOpened(init, 'it is no shared memory object');
  if (offset + byteSize <= stat.size) return;
  throw new SharedMemoryError(
    'bad-region',
    `failed to register shared memory region '${name}': invalid args, the object '${key}' has ${stat.size} bytes, ` +
      `and ${byteSize} at offset ${offset} were named`,
  );
}

function notOpened({ name, key }: RegionInit, why: string, cause?: unknown): SharedMemoryError {
  return new SharedMemoryError(
    'not-opened',
    `Unable to open shared memory region: '${name}' with the key '${key}': ${why}`,
    { cause },
  );
}
