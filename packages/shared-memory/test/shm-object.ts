import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

/** A shared memory object as a client makes it. */
export class ShmObject implements Disposable {
  readonly path = `/dev/shm/shm-test-${randomUUID()}`;
  readonly key = `/${basename(this.path)}`;

  constructor(bytes: Uint8Array) {
    writeFileSync(this.path, bytes);
  }

  get bytes(): Buffer {
    return readFileSync(this.path);
  }

  truncate(byteSize: number): void {
    truncateSync(this.path, byteSize);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { force: true });
  }
}
