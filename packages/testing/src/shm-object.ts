import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

/** A POSIX shared memory object as a client makes it; disposing removes its name. */
export class ShmObject implements Disposable {
  readonly path = `/dev/shm/shm-test-${randomUUID()}`;
  /** As `shm_open` takes it. */
  readonly key = `/${basename(this.path)}`;

  constructor(bytes: Uint8Array) {
    writeFileSync(this.path, bytes);
  }

  /** What it holds now. */
  get bytes(): Buffer {
    return readFileSync(this.path);
  }

  /** Makes it shorter or longer. */
  truncate(byteSize: number): void {
    truncateSync(this.path, byteSize);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { force: true });
  }
}
