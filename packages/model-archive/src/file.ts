/** Reading pieces of a file that may be many gigabytes long. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { ModelArchiveError } from './errors.ts';

/** An open regular file. */
export interface OpenFile {
  readonly path: string;
  readonly byteSize: number;
  /** Up to `length` bytes from `position`; fewer at the end of the file. The caller owns the buffer. */
  read(position: number, length: number): Promise<Buffer>;
}

/**
 * Runs `use` with the file open, and closes it.
 * @throws {ModelArchiveError} `unreadable` when it cannot be opened or read, or is no regular file
 */
export async function withFile<T>(path: string, use: (file: OpenFile) => Promise<T>): Promise<T> {
  // Without O_NONBLOCK opening a pipe would wait for a writer for ever.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) {
      const what = stats.isDirectory() ? 'a directory' : 'not a regular file';
      throw new ModelArchiveError(
        'unreadable',
        `'${path}' is ${what}; a model is a file such as model.pt or model.pt2.`,
      );
    }
    return await use({
      path,
      byteSize: stats.size,
      read: (position, length) =>
        readPiece(handle, { path, position, length: Math.min(length, stats.size - position) }),
    });
  } finally {
    await handle.close();
  }
}

interface Piece {
  readonly path: string;
  readonly position: number;
  readonly length: number;
}

async function readPiece(handle: FileHandle, { path, position, length }: Piece): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.max(length, 0));
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle
      .read(buffer, filled, buffer.length - filled, position + filled)
      .catch((cause: unknown) => {
        throw unreadable(path, cause);
      });
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function unreadable(path: string, cause: unknown): ModelArchiveError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const remedy =
    code === 'ENOENT'
      ? 'there is no such file'
      : code === 'EACCES' || code === 'EPERM'
        ? 'this user may not read it; give it read permission'
        : cause instanceof Error
          ? cause.message
          : String(cause);
  return new ModelArchiveError('unreadable', `Cannot read '${path}': ${remedy}.`, { cause });
}
