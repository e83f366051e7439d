import { randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  ftruncateSync,
  openSync,
  read as readCallback,
  readSync,
  unlinkSync,
  writev as writevCallback,
  writevSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TransportError } from './errors.ts';

/**
 * Memory that a process shares with its child. Small transfers are done when the call returns, which then gives `undefined`; larger ones run beside the event
 * loop and give a promise. At most one transfer of each direction may touch the same bytes at a time.
 */
export interface SharedRegion {
  /** Open file descriptor that the child inherits and maps. */
  readonly descriptor: number;
  readonly sizeBytes: number;
  /**
   * Makes the region at least that large; it never shrinks.
   * @throws {TransportError} `memory`
   */
  grow(sizeBytes: number): void;
  /**
   * Copies `parts`, one after another, to `position`. They must stay unchanged until then.
   * @throws {TransportError} `memory`, also as a rejection
   */
  write(position: number, parts: readonly Uint8Array[]): Promise<void> | undefined;
  /** Fills `target` from `position`; bytes past the end of the region are a TransportError `message`. */
  read(position: number, target: Uint8Array): Promise<void> | undefined;
  /** Gives the memory back once running transfers are done and the child has unmapped it. Idempotent. */
  close(): void;
}

export interface RegionOptions {
  /** Where memory files are made: `/dev/shm` by default where it is writable, else the directory for temporary files. */
  readonly directory?: string;
  /** Transfers up to this size are done on the calling thread. 65 536 by default. */
  readonly syncBytes?: number;
}

const SHM = '/dev/shm';
const DEFAULT_SYNC_BYTES = 65_536;
/** What Linux moves at most in one call. */
const MAX_TRANSFER_BYTES = 0x7fff_f000;

const writev = promisify(writevCallback);
const read = promisify(readCallback);

/**
 * A file in memory. Its name is removed as soon as it is open, so that nothing is left behind however the processes end.
 *
 * Node.js cannot map memory without an addon, so this side writes and reads the file: one copy each way. A child that maps it has none.
 */
export class FileRegion implements SharedRegion {
  readonly descriptor: number;
  readonly #directory: string;
  readonly #syncBytes: number;
  #sizeBytes = 0;
  #transfers = 0;
  #isClosed = false;

  /** @throws {TransportError} `memory` when no file can be made */
  constructor(options: RegionOptions = {}) {
    this.#directory = options.directory ?? defaultDirectory();
    this.#syncBytes = options.syncBytes ?? DEFAULT_SYNC_BYTES;
    this.descriptor = this.#guard(() => openUnnamed(this.#directory));
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  grow(sizeBytes: number): void {
    if (sizeBytes <= this.#sizeBytes) return;
    this.#assertOpen();
    this.#guard(() => ftruncateSync(this.descriptor, sizeBytes));
    this.#sizeBytes = sizeBytes;
  }

  write(position: number, parts: readonly Uint8Array[]): Promise<void> | undefined {
    this.#assertOpen();
    const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
    if (bytes > this.#syncBytes) return this.#transfer(() => this.#writeBeside(position, parts));
    this.#guard(() => {
      let rest = parts;
      for (let done = 0; done < bytes; ) {
        const written = writevSync(this.descriptor, rest, position + done);
        rest = skip(rest, written);
        done += written;
      }
    });
    return undefined;
  }

  read(position: number, target: Uint8Array): Promise<void> | undefined {
    this.#assertOpen();
    if (target.byteLength > this.#syncBytes) return this.#transfer(() => this.#readBeside(position, target));
    for (let done = 0; done < target.byteLength; ) {
      const got = readSync(this.descriptor, target, done, target.byteLength - done, position + done);
      if (got === 0) throw pastTheEnd(position + done);
      done += got;
    }
    return undefined;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#transfers === 0) closeSync(this.descriptor);
  }

  async #writeBeside(position: number, parts: readonly Uint8Array[]): Promise<void> {
    let rest = parts;
    for (let done = 0; rest.length > 0; ) {
      const { bytesWritten } = await writev(this.descriptor, rest, position + done).catch((error) =>
        this.#refuse(error),
      );
      rest = skip(rest, bytesWritten);
      done += bytesWritten;
    }
  }

  async #readBeside(position: number, target: Uint8Array): Promise<void> {
    for (let done = 0; done < target.byteLength; ) {
      const length = Math.min(target.byteLength - done, MAX_TRANSFER_BYTES);
      const { bytesRead } = await read(this.descriptor, target, done, length, position + done);
      if (bytesRead === 0) throw pastTheEnd(position + done);
      done += bytesRead;
    }
  }

  /** The descriptor stays open while a transfer runs: its number may be given to another file once it is closed. */
  async #transfer(run: () => Promise<void>): Promise<void> {
    this.#transfers++;
    try {
      await run();
    } finally {
      this.#transfers--;
      if (this.#isClosed && this.#transfers === 0) closeSync(this.descriptor);
    }
  }

  #guard<T>(run: () => T): T {
    try {
      return run();
    } catch (thrown) {
      return this.#refuse(thrown);
    }
  }

  #refuse(thrown: unknown): never {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new TransportError({
      code: 'UNAVAILABLE',
      reason: 'memory',
      message: `no shared memory in ${this.#directory}: ${reason}. Enlarge that file system, or name another directory.`,
      cause: thrown,
    });
  }

  #assertOpen(): void {
    if (!this.#isClosed) return;
    throw new TransportError({ code: 'UNAVAILABLE', reason: 'closed', message: 'the shared memory was closed' });
  }
}

function defaultDirectory(): string {
  try {
    accessSync(SHM, constants.W_OK);
    return SHM;
  } catch {
    return tmpdir();
  }
}

function openUnnamed(directory: string): number {
  const path = join(directory, `nereid-${process.pid}-${randomUUID()}`);
  const descriptor = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return descriptor;
}

/** What is left of `parts` after their first `bytes`. */
function skip(parts: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let left = bytes;
  for (const [i, part] of parts.entries()) {
    if (left < part.byteLength) return left === 0 ? parts.slice(i) : [part.subarray(left), ...parts.slice(i + 1)];
    left -= part.byteLength;
  }
  return [];
}

function pastTheEnd(position: number): TransportError {
  return new TransportError({
    code: 'INTERNAL',
    reason: 'message',
    message: `the shared memory ends before byte ${position}`,
  });
}
