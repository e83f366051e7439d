import { CallSpecError, type NamedTensor, nameInputs, nameOutputs, parseCallSpec } from '@nereid/call-spec';
import { ModelArchiveError } from './errors.ts';
import { type OpenFile, withFile } from './file.ts';
import type { ArchiveLimits } from './limits.ts';
import { aotiModels, requireKind } from './sniff.ts';
import { datatypeFromTorch } from './torch-dtypes.ts';
import type { AotiInspection, CompileTarget, DeclaredDim, DeclaredTensor } from './types.ts';
import { readWrapperSource, type SourceTensor, type WrapperFacts } from './wrapper-source.ts';
import { openZip, type ZipArchive } from './zip.ts';

export interface InspectAotiOptions extends ArchiveLimits {
  /** Which model of the package. Default: `model` if there is one, else the first. */
  readonly model?: string | undefined;
}

/** The name that `aoti_compile_and_package` gives a single model. */
const DEFAULT_MODEL = 'model';

/**
 * What an AOTInductor package says of itself, without loading it. The more of it is in the archive, the more is known: a package without
 * generated sources has models and a target only, and `notes` says what is unknown.
 *
 * @throws {ModelArchiveError} `wrong-kind` when it is no such package, `no-such-model`, or what `sniffModelFile` throws
 */
export function inspectAoti(path: string, options: InspectAotiOptions = {}): Promise<AotiInspection> {
  return withFile(path, async (file) => {
    await requireKind(file, 'aoti', options);
    const archive = await openZip(file, options);
    const models = aotiModels(archive.names);
    const model = chooseModel(models, options.model, file);
    const members = archive.names.filter((name) => name.startsWith(`data/aotinductor/${model}/`));
    const facts = await findFacts(archive, members);
    return {
      models,
      model,
      target: await readTarget(archive, members),
      needsCompiler: !members.some((name) => /\.(so|dll|pyd|dylib)$/.test(name)),
      ...(typeof facts === 'string' ? { notes: [facts] } : describeFacts(facts)),
    };
  });
}

function chooseModel(models: readonly string[], wanted: string | undefined, file: OpenFile): string {
  const model = wanted ?? (models.includes(DEFAULT_MODEL) ? DEFAULT_MODEL : models[0]);
  if (model !== undefined && models.includes(model)) return model;
  throw new ModelArchiveError(
    'no-such-model',
    `'${file.path}' holds no model '${model}', only ${models.map((name) => `'${name}'`).join(', ')}. Choose one of those.`,
  );
}

/**
 * Facts from the wrapper, or a note on why there are none. It is one of the C++ sources; releases before 2.7 do not mark it in its name.
 */
async function findFacts(archive: ZipArchive, members: readonly string[]): Promise<WrapperFacts | string> {
  const sources = members.filter((name) => name.endsWith('.cpp') && !name.endsWith('.kernel.cpp'));
  for (const name of sources) {
    try {
      const facts = readWrapperSource((await archive.read(name)).toString('utf8'));
      if (facts !== undefined) return facts;
    } catch (error) {
      // The source of a very large model is only a hint: the package can be served without it.
      if (error instanceof ModelArchiveError && error.reason === 'limit') return `${error.message} ${UNKNOWN}`;
      throw error;
    }
  }
  return `The package holds no generated source (*.wrapper.cpp) that can be read. ${UNKNOWN}`;
}

const UNKNOWN = 'Names, datatypes and shapes of its inputs and outputs are known only after it is loaded.';

const TARGET_KEYS = {
  device: 'AOTI_DEVICE_KEY',
  platform: 'AOTI_PLATFORM',
  machine: 'AOTI_MACHINE',
  cpuIsa: 'AOTI_CPU_ISA',
  computeCapability: 'AOTI_COMPUTE_CAPABILITY',
} as const satisfies Record<keyof CompileTarget, string>;

async function readTarget(archive: ZipArchive, members: readonly string[]): Promise<CompileTarget> {
  const name = members.find((member) => member.endsWith('_metadata.json'));
  if (name === undefined) return {};
  const metadata = parseObject((await archive.read(name)).toString('utf8'));
  const stated = Object.entries(TARGET_KEYS).map(([field, key]) => [field, metadata[key]]);
  return Object.fromEntries(stated.filter(([, value]) => typeof value === 'string' && value !== ''));
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

type Described = Omit<AotiInspection, 'models' | 'model' | 'target' | 'needsCompiler'>;

function describeFacts(facts: WrapperFacts): Described {
  const { callSpec, constantCount, parameterCount } = facts;
  const { inputNames, outputNames, notes } = readNames(facts);
  const inputs = facts.inputs.map((tensor, position) => declare(tensor, `INPUT__${position}`, inputNames?.[position]));
  return {
    inputs,
    outputs: facts.outputs.map((tensor, position) => declare(tensor, `OUTPUT__${position}`, outputNames?.[position])),
    constantCount,
    parameterCount,
    ...(callSpec === undefined ? {} : { callSpec }),
    notes: [...notes, ...inputs.filter(({ contiguous }) => contiguous === false).map(notContiguous)],
  };
}

function notContiguous({ ordinalName }: DeclaredTensor): string {
  return (
    `${ordinalName} was compiled for a tensor that is not contiguous, which a request's tensors are: results would be wrong. ` +
    'Export again with a contiguous sample: x.contiguous().'
  );
}

interface Names {
  readonly inputNames?: readonly NamedTensor[];
  readonly outputNames?: readonly NamedTensor[];
  readonly notes: readonly string[];
}

function readNames({ callSpec, inputs, parameterCount }: WrapperFacts): Names {
  if (callSpec === undefined) {
    return {
      notes: ['The generated source states no call spec: forward names are known only after the package is loaded.'],
    };
  }
  return orNote({ notes: [] }, () => {
    const spec = parseCallSpec(callSpec);
    const outputs = nameOutputs(spec);
    const known = { outputNames: outputs.tensors, notes: outputs.warnings };
    return orNote(known, () => {
      const compiledInputs = { names: inputs.map(({ compiledName }) => compiledName ?? ''), constants: parameterCount };
      const { tensors, warnings } = nameInputs(spec, { compiledInputs });
      return { ...known, inputNames: tensors, notes: [...warnings, ...known.notes] };
    });
  });
}

/** What `read` finds, or what is known without it and a note that says why it failed. */
function orNote(known: Names, read: () => Names): Names {
  try {
    return read();
  } catch (error) {
    if (error instanceof CallSpecError) return { ...known, notes: [...known.notes, error.message] };
    throw error;
  }
}

function declare(tensor: SourceTensor, ordinalName: string, named: NamedTensor | undefined): DeclaredTensor {
  const { compiledName, torchDtype, shape, strides, device, isNone } = tensor;
  const datatype = torchDtype === undefined ? undefined : datatypeFromTorch(torchDtype);
  return {
    ordinalName,
    ...(named?.forwardNameUsable ? { forwardName: named.forwardName } : {}),
    ...(compiledName === undefined ? {} : { compiledName }),
    ...(datatype === undefined ? {} : { datatype }),
    ...(torchDtype === undefined ? {} : { torchDtype }),
    ...(shape === undefined ? {} : { shape }),
    ...(shape === undefined || strides === undefined ? {} : { contiguous: isContiguous(shape, strides) }),
    ...(device === undefined ? {} : { device }),
    ...(isNone === undefined ? {} : { isNone }),
  };
}

/** Whether the strides can be those of a row-major tensor without gaps; sizes and strides that vary are taken to fit. */
function isContiguous(shape: readonly DeclaredDim[], strides: readonly (number | null)[]): boolean {
  let elements = 1;
  for (let index = shape.length - 1; index >= 0; index--) {
    const size = shape[index];
    const stride = strides[index] ?? null;
    if (size === 0) return true;
    if (stride !== null && size !== 1 && stride !== elements) return false;
    if (typeof size !== 'number') return true;
    elements *= size;
  }
  return true;
}
