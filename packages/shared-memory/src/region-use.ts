import type { SharedMemoryPart } from '@nereid/core';
import { SharedMemoryError } from './errors.ts';
import type { Region } from './region.ts';

/** Part of a region while a request needs it. */
export class RegionUse {
  readonly part: SharedMemoryPart;
  readonly #region: Region;
  #isClosed = false;

  /** @internal */
  constructor(region: Region, part: SharedMemoryPart) {
    region.hold();
    this.#region = region;
    this.part = part;
  }

  /**
   * A copy of the bytes of the part; a promise where they are many.
   * @throws {SharedMemoryError} `bad-part` when the client has made its object shorter, `io`; also as a rejection
   */
  read(): Buffer | Promise<Buffer> {
    return this.#region.read(this.part);
  }

  /**
   * Copies bytes to the beginning of the part. They must stay unchanged until the promise, if there is one, has settled.
   * @throws {SharedMemoryError} as `read` does; it is not asked whether the part is large enough
   */
  write(bytes: Uint8Array): Promise<void> | undefined {
    return this.#region.write({ offset: this.part.offset, byteSize: bytes.byteLength }, bytes);
  }

  /** @throws {SharedMemoryError} `too-small` when the part cannot hold so many bytes of an output */
  assertHolds(output: string, bytes: number): void {
    if (bytes <= this.part.byteSize) return;
    throw new SharedMemoryError(
      'too-small',
      `shared memory size specified with the request for output '${output}' (${this.part.byteSize} bytes) should be at least ${bytes} bytes to hold the results`,
    );
  }

  /** Idempotent. Transfers under way still end well. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#region.letGo();
  }
}
