/** Tells what kind of file stands where a model is expected, from its first bytes and, for an archive, from the names of its members. */
import { describeKind } from './describe-kind.ts';
import { ModelArchiveError } from './errors.ts';
import { type OpenFile, withFile } from './file.ts';
import type { ArchiveLimits } from './limits.ts';
import { describeLegacyPickle, describePickle, LEGACY_MAGIC, type Pickled } from './pickled.ts';
import { openZip, type ZipArchive } from './zip.ts';

/** What was found, before words are put to it. */
export type FileContent =
  | { readonly kind: 'torchscript' }
  | { readonly kind: 'aoti'; readonly models: readonly string[] }
  | { readonly kind: 'exported-program' }
  | { readonly kind: 'eager-pickle' | 'legacy-pickle' | 'pickle'; readonly pickled: Pickled }
  | { readonly kind: 'onnx' | 'safetensors' | 'git-lfs-pointer' | 'html' | 'empty' | 'zip' }
  /** `detail` is the message of the error that opening the archive gives. */
  | { readonly kind: 'truncated-zip' | 'damaged-zip'; readonly detail: string }
  | { readonly kind: 'other'; readonly firstBytes: string };

/** A model file as found on disk. */
export type ModelFile = FileContent & {
  readonly path: string;
  readonly byteSize: number;
  /** What the file is; one sentence that names it. */
  readonly summary: string;
  /** What to do to serve it; absent for the two kinds that are served as they are. */
  readonly remedy?: string;
};

export type ModelFileKind = ModelFile['kind'];

const HEAD_BYTES = 4096;
const ZIP_MAGIC = Buffer.from('PK\x03\x04', 'latin1');
const EMPTY_ZIP_MAGIC = Buffer.from('PK\x05\x06', 'latin1');

/**
 * Recognises a model file. Reads its first bytes, an archive's table of contents and, for pickles, the opcodes; executes nothing.
 * Damaged archives are a kind of their own, not an error.
 *
 * @throws {ModelArchiveError} `unreadable`; `limit` when the archive or its pickle is larger than the limits
 */
export function sniffModelFile(path: string, limits: ArchiveLimits = {}): Promise<ModelFile> {
  return withFile(path, (file) => sniff(file, limits));
}

async function sniff(file: OpenFile, limits: ArchiveLimits): Promise<ModelFile> {
  const content = await recognise(file, limits);
  return { ...content, path: file.path, byteSize: file.byteSize, ...describeKind(content, file) };
}

/** @throws {ModelArchiveError} `wrong-kind`, `truncated` or `corrupt`, with what the file is and what to do, unless it is of `kind` */
export async function requireKind(file: OpenFile, kind: 'aoti' | 'torchscript', limits: ArchiveLimits): Promise<void> {
  const found = await sniff(file, limits);
  if (found.kind === kind) return;
  if (found.kind === 'truncated-zip') throw new ModelArchiveError('truncated', found.detail);
  if (found.kind === 'damaged-zip') throw new ModelArchiveError('corrupt', found.detail);
  const expected = kind === 'aoti' ? 'an AOTInductor package' : 'a TorchScript archive';
  const remedy = found.remedy === undefined ? '' : ` ${found.remedy}`;
  throw new ModelArchiveError('wrong-kind', `Expected ${expected}, but ${found.summary}${remedy}`);
}

async function recognise(file: OpenFile, limits: ArchiveLimits): Promise<FileContent> {
  if (file.byteSize === 0) return { kind: 'empty' };
  const head = await file.read(0, HEAD_BYTES);
  if (startsWith(head, ZIP_MAGIC) || startsWith(head, EMPTY_ZIP_MAGIC)) return recogniseZip(file, limits);
  if (startsWith(head, LEGACY_MAGIC)) return recognisePickle(file, limits, 'legacy-pickle');
  const kind = RULES.find(({ matches }) => matches(head, file))?.kind;
  if (kind === 'pickle') return recognisePickle(file, limits, kind);
  return kind === undefined ? { kind: 'other', firstBytes: head.subarray(0, 8).toString('hex') } : { kind };
}

async function recogniseZip(file: OpenFile, limits: ArchiveLimits): Promise<FileContent> {
  try {
    const archive = await openZip(file, limits);
    return await recogniseMembers(archive);
  } catch (error) {
    if (!(error instanceof ModelArchiveError)) throw error;
    if (error.reason === 'truncated') return { kind: 'truncated-zip', detail: error.message };
    if (error.reason === 'corrupt') return { kind: 'damaged-zip', detail: error.message };
    throw error;
  }
}

async function recogniseMembers(archive: ZipArchive): Promise<FileContent> {
  const models = aotiModels(archive.names);
  if (models.length > 0) return { kind: 'aoti', models };
  const has = (pattern: RegExp) => archive.names.some((name) => pattern.test(name));
  if (has(/^code\//) && has(/^constants\.pkl$/)) return { kind: 'torchscript' };
  if (has(/^models\/[^/]+\.json$/) || has(/^serialized_exported_program\.json$/)) return { kind: 'exported-program' };
  if (has(/^data\.pkl$/)) return { kind: 'eager-pickle', pickled: describePickle(await archive.read('data.pkl')) };
  return { kind: 'zip' };
}

/** Names of the compiled models in a package, in the order of the archive. */
export function aotiModels(names: readonly string[]): string[] {
  const models = names.map((name) => /^data\/aotinductor\/([^/]+)\/./.exec(name)?.[1]);
  return [...new Set(models.filter((model) => model !== undefined))];
}

async function recognisePickle(
  file: OpenFile,
  limits: ArchiveLimits,
  kind: 'legacy-pickle' | 'pickle',
): Promise<FileContent> {
  const bytes = await file.read(0, limits.maxMemberBytes ?? DEFAULT_PICKLE_BYTES);
  return { kind, pickled: kind === 'pickle' ? describePickle(bytes) : describeLegacyPickle(bytes) };
}

/** Outside an archive the tensors follow the pickle in the same file, so that its beginning is enough. */
const DEFAULT_PICKLE_BYTES = 16 * 1024 * 1024;

interface Rule {
  readonly kind: 'git-lfs-pointer' | 'html' | 'safetensors' | 'onnx' | 'pickle';
  matches(head: Buffer, file: OpenFile): boolean;
}

const RULES: readonly Rule[] = [
  { kind: 'git-lfs-pointer', matches: (head) => head.toString('latin1').startsWith('version https://git-lfs') },
  { kind: 'html', matches: (head) => /^\s*<(!doctype html|html)/i.test(head.toString('latin1', 0, 256)) },
  // Length of the JSON header as a 64-bit number, then the header.
  {
    kind: 'safetensors',
    matches: (head, { byteSize }) =>
      head.length > 8 && head[8] === 0x7b && head.readBigUInt64LE() <= BigInt(byteSize - 8),
  },
  // A protobuf ModelProto: field 1 (ir_version, a small number), then a string, the graph or the opset imports.
  {
    kind: 'onnx',
    matches: (head) =>
      head[0] === 0x08 && (head[1] ?? 0) > 0 && (head[1] ?? 0) < 32 && ONNX_SECOND_TAGS.has(head[2] ?? 0),
  },
  { kind: 'pickle', matches: (head) => head[0] === 0x80 && (head[1] ?? 0) >= 2 && (head[1] ?? 0) <= 5 },
];

const ONNX_SECOND_TAGS = new Set([0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42]);

function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.subarray(0, prefix.length).equals(prefix);
}
