/**
 * The members of a zip archive, of which only the central directory and the members asked for are read.
 *
 * PyTorch stores members uncompressed and aligned, behind one directory named after the file: `<root>/data.pkl`, `<root>/code/…`. Older
 * packages have no such root. Names here are without it.
 */
import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import yauzl from 'yauzl';
import { ModelArchiveError } from './errors.ts';
import type { OpenFile } from './file.ts';
import { type ArchiveLimits, DEFAULT_LIMITS } from './limits.ts';

export interface ZipArchive {
  /** Names of all members without the root, in the order of the archive. */
  readonly names: readonly string[];
  /**
   * Contents of a member.
   * @throws {ModelArchiveError} `corrupt` when it is not there or damaged, `limit` when it is larger than `maxMemberBytes`
   */
  read(name: string): Promise<Buffer>;
}

const inflate = promisify(inflateRaw);

const STORED = 0;
const DEFLATED = 8;

/** Bytes of the central directory that are read at once. */
const WINDOW_BYTES = 256 * 1024;

/**
 * Opens the archive in a file that stays open as long as the archive is used.
 * @throws {ModelArchiveError} `truncated`, `corrupt` or `limit`
 */
export async function openZip(file: OpenFile, limits: ArchiveLimits = {}): Promise<ZipArchive> {
  const { maxMembers, maxMemberBytes } = { ...DEFAULT_LIMITS, ...limits };
  const zip = await openDirectory(file);
  if (zip.entryCount > maxMembers) {
    throw new ModelArchiveError(
      'limit',
      `'${file.path}' has ${zip.entryCount} members, at most ${maxMembers} are read (option maxMembers).`,
    );
  }
  const members = withoutRoot(await readEntries(zip, file));
  return {
    names: [...members.keys()],
    read: async (name) => {
      const entry = members.get(name);
      if (entry === undefined) throw corrupt(file, `it has no member '${name}'`);
      if (entry.uncompressedSize > maxMemberBytes || entry.compressedSize > maxMemberBytes) {
        throw new ModelArchiveError(
          'limit',
          `'${name}' in '${file.path}' has ${entry.uncompressedSize} bytes, at most ${maxMemberBytes} are read (option maxMemberBytes).`,
        );
      }
      return readMember(zip, entry, file);
    },
  };
}

/** Serves the many small reads of the central directory from one window, and bounds every read by the file's size. */
class WindowReader extends yauzl.RandomAccessReader {
  readonly #file: OpenFile;
  #window: { readonly start: number; readonly bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };

  constructor(file: OpenFile) {
    super();
    this.#file = file;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    this.#piece(position, length)
      .then((piece) => {
        if (piece.length < length) callback(new Error('unexpected end of file'));
        else callback(null, piece.copy(buffer, offset));
      })
      // What the callback itself throws is a surprise of the archive too: it must not become an unhandled rejection.
      .catch((error: unknown) => this.emit('error', error));
  }

  async #piece(position: number, length: number): Promise<Buffer> {
    if (!(position >= 0 && position + length <= this.#file.byteSize)) return Buffer.alloc(0);
    let from = position - this.#window.start;
    if (from < 0 || from + length > this.#window.bytes.length) {
      this.#window = { start: position, bytes: await this.#file.read(position, Math.max(length, WINDOW_BYTES)) };
      from = 0;
    }
    return this.#window.bytes.subarray(from, from + length);
  }

  override close(callback: (error: Error | null) => void): void {
    callback(null);
  }
}

function openDirectory(file: OpenFile): Promise<yauzl.ZipFile> {
  return new Promise((resolve, reject) => {
    const reader = new WindowReader(file);
    reader.on('error', (error) => reject(damaged(file, error)));
    const options = { lazyEntries: true, autoClose: false };
    yauzl.fromRandomAccessReader(reader, file.byteSize, options, (error, zip) => {
      if (zip === undefined) reject(damaged(file, error));
      else resolve(zip);
    });
  });
}

function readEntries(zip: yauzl.ZipFile, file: OpenFile): Promise<yauzl.Entry[]> {
  return new Promise((resolve, reject) => {
    const entries: yauzl.Entry[] = [];
    zip.on('entry', (entry: yauzl.Entry) => {
      entries.push(entry);
      zip.readEntry();
    });
    zip.on('end', () => resolve(entries));
    zip.on('error', (error) => reject(damaged(file, error)));
    zip.readEntry();
  });
}

async function readMember(zip: yauzl.ZipFile, entry: yauzl.Entry, file: OpenFile): Promise<Buffer> {
  const name = `'${entry.fileName}'`;
  const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true }).catch((error: unknown) => {
    throw damaged(file, error);
  });
  if (entry.isEncrypted()) throw corrupt(file, `member ${name} is encrypted`);
  const stored = await file.read(fileDataStart, entry.compressedSize);
  if (entry.compressionMethod === STORED) return stored;
  if (entry.compressionMethod !== DEFLATED) {
    throw corrupt(file, `member ${name} uses compression method ${entry.compressionMethod}`);
  }
  const contents = await inflate(stored, { maxOutputLength: entry.uncompressedSize + 1 }).catch((error: unknown) => {
    throw corrupt(file, `member ${name} cannot be decompressed`, error);
  });
  if (contents.length !== entry.uncompressedSize) throw corrupt(file, `member ${name} has not the size stated for it`);
  return contents;
}

function withoutRoot(entries: readonly yauzl.Entry[]): Map<string, yauzl.Entry> {
  // Archives that were packed again on a Mac carry a shadow of every member.
  const own = entries.filter(({ fileName }) => !fileName.startsWith('__MACOSX/') && !fileName.endsWith('/'));
  const first = own[0]?.fileName ?? '';
  const root = first.slice(0, first.indexOf('/') + 1);
  const shared = own.every(({ fileName }) => fileName.startsWith(root));
  return new Map(own.map((entry) => [shared ? entry.fileName.slice(root.length) : entry.fileName, entry]));
}

function damaged(file: OpenFile, cause: unknown): ModelArchiveError {
  if (cause instanceof ModelArchiveError) return cause;
  const detail = cause instanceof Error ? cause.message : String(cause);
  // The directory stands at the very end, so that a file cut anywhere has lost it.
  if (/signature not found|end of file|overflows file bounds/.test(detail)) {
    return new ModelArchiveError(
      'truncated',
      `'${file.path}' is a zip archive that was cut off: ${file.byteSize} bytes are there and its table of contents is not or points ` +
        'beyond them. Copy or download it again and compare the sizes.',
      { cause },
    );
  }
  return corrupt(file, detail, cause);
}

function corrupt(file: OpenFile, detail: string, cause?: unknown): ModelArchiveError {
  return new ModelArchiveError(
    'corrupt',
    `'${file.path}' is a damaged zip archive: ${detail}. Copy or download it again, or export the model again.`,
    { cause },
  );
}
