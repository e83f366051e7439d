import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { RepositoryError } from './errors.ts';
import { fsFault } from './fs-fault.ts';

/**
 * Reads a regular file whole, unless it is larger than `maxBytes`; the limit is kept also when the file grows meanwhile.
 *
 * @throws {RepositoryError} `unreadable` when it is missing, refused or no regular file (a pipe is not waited for); `too-large`
 */
export async function readLimited(path: string, maxBytes: number): Promise<Buffer> {
  // Without O_NONBLOCK opening a pipe would wait for a writer for ever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    throw unreadable(path, fsFault(error), error);
  });
  try {
    return await readHandle(file, { path, maxBytes });
  } finally {
    await file.close();
  }
}

async function readHandle(file: FileHandle, limits: { path: string; maxBytes: number }): Promise<Buffer> {
  const { path, maxBytes } = limits;
  try {
    const info = await file.stat();
    if (!info.isFile()) throw unreadable(path, `it is ${info.isDirectory() ? 'a directory' : 'not a regular file'}`);
    if (info.size > maxBytes) throw tooLarge(path, { bytes: info.size, maxBytes });
    return await readUpTo(file, { path, maxBytes, expected: info.size });
  } catch (error) {
    throw error instanceof RepositoryError ? error : unreadable(path, fsFault(error), error);
  }
}

async function readUpTo(
  file: FileHandle,
  limits: { path: string; maxBytes: number; expected: number },
): Promise<Buffer> {
  // One byte more than stat promised shows a file that grew (or one of /proc, whose size reads as 0).
  let buffer = Buffer.allocUnsafe(limits.expected + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, length, buffer.byteLength - length, null);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
    if (length > limits.maxBytes) throw tooLarge(limits.path, { bytes: length, maxBytes: limits.maxBytes });
    if (length === buffer.byteLength) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(length)]);
  }
}

function unreadable(path: string, fault: string, cause?: unknown): RepositoryError {
  return new RepositoryError('unreadable', `cannot read '${path}': ${fault}`, { cause });
}

function tooLarge(path: string, size: { bytes: number; maxBytes: number }): RepositoryError {
  return new RepositoryError(
    'too-large',
    `'${path}' has ${size.bytes} bytes or more; at most ${size.maxBytes} are read`,
  );
}
