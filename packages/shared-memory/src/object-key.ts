import { join } from 'node:path';
import { SharedMemoryError } from './errors.ts';

/** Longest name of a file. */
const MAX_NAME_BYTES = 255;

/** Names of memory that belongs to servers, not to their clients: those of Triton's Python models, and of this project's. */
const RESERVED = ['triton_python_backend_shm_region_', 'nereid-'];

/**
 * Path of the file behind the key of a POSIX shared memory object: one name, with or without the leading slashes, which Linux ignores.
 * @throws {SharedMemoryError} `bad-key` for anything that could lead out of `directory`, and for reserved names
 */
export function pathOfKey(key: string, directory: string): string {
  const name = key.replace(/^\/+/, '');
  if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0')) {
    throw badKey(key, "expected '/' and one name without a further '/', as shm_open takes it");
  }
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw badKey(key, `its name is longer than ${MAX_NAME_BYTES} bytes`);
  const reserved = RESERVED.find((prefix) => name.startsWith(prefix));
  if (reserved !== undefined) throw badKey(key, `names that begin with '${reserved}' are reserved for servers`);
  return join(directory, name);
}

function badKey(key: string, why: string): SharedMemoryError {
  return new SharedMemoryError('bad-key', `cannot register shared memory with the key '${key}': ${why}`);
}
