import { ModelArchiveError } from './errors.ts';
import { type OpenFile, withFile } from './file.ts';
import type { ArchiveLimits } from './limits.ts';
import { type PickledObject, scanPickle } from './pickle.ts';
import { type ClassSource, fieldTypes, findClass, findMethod, methodNames, tupleElements } from './python-signature.ts';
import { requireKind } from './sniff.ts';
import type { TorchScriptInspection } from './types.ts';
import { openZip, type ZipArchive } from './zip.ts';

/**
 * What a TorchScript archive says of itself, without loading it: the signature of forward, from the source in the archive, and the
 * training flag, from the pickled module.
 *
 * @throws {ModelArchiveError} `wrong-kind` when it is no TorchScript archive, `corrupt`, or what `sniffModelFile` throws
 */
export function inspectTorchScript(path: string, limits: ArchiveLimits = {}): Promise<TorchScriptInspection> {
  return withFile(path, async (file) => {
    await requireKind(file, 'torchscript', limits);
    const archive = await openZip(file, limits);
    const module = await readModule(archive, file);
    const source = await readClass(archive, module.callee);
    return {
      className: module.callee,
      ...(source === undefined ? {} : await readForward(archive, source)),
      ...readTraining(module),
      methods: source === undefined ? [] : methodNames(source),
    };
  });
}

async function readModule(archive: ZipArchive, file: OpenFile): Promise<PickledObject> {
  const { value } = scanPickle(await archive.read('data.pkl'));
  if (value?.kind === 'object') return value;
  throw new ModelArchiveError(
    'corrupt',
    `'${file.path}' is a TorchScript archive whose data.pkl holds no module. Export the model again.`,
  );
}

/** `__torch__.a.b.Net` is the class Net in `code/__torch__/a/b.py`. */
async function readClass(archive: ZipArchive, qualifiedName: string): Promise<ClassSource | undefined> {
  const path = qualifiedName.split('.');
  const name = path.pop() ?? '';
  const member = `code/${path.join('/')}.py`;
  if (!archive.names.includes(member)) return undefined;
  return findClass((await archive.read(member)).toString('utf8'), name);
}

async function readForward(
  archive: ZipArchive,
  source: ClassSource,
): Promise<Pick<TorchScriptInspection, 'arguments' | 'returnType' | 'returns'>> {
  const forward = findMethod(source, 'forward');
  if (forward === undefined) return {};
  const returns = await readReturns(archive, forward.returnType);
  return { ...forward, ...(returns === undefined ? {} : { returns }) };
}

async function readReturns(archive: ZipArchive, type: string): Promise<readonly string[] | undefined> {
  if (type === 'Tensor') return [type];
  const elements = tupleElements(type);
  if (elements !== undefined) return elements;
  const named = type.startsWith('__torch__.') ? await readClass(archive, type) : undefined;
  return named?.base === 'NamedTuple' ? fieldTypes(named) : undefined;
}

function readTraining({ state }: PickledObject): Pick<TorchScriptInspection, 'training'> {
  const flag = state?.kind === 'dict' ? state.entries.get('training') : undefined;
  return flag?.kind === 'boolean' ? { training: flag.value } : {};
}
