/** What is known of one model file. The shape of `nereid inspect --json`: plain data, absent members are not stated by the file. */
import {
  type AotiInspection,
  compareTarget,
  inspectAoti,
  inspectTorchScript,
  isaSupported,
  type ModelFileKind,
  readHost,
  sniffModelFile,
  type TorchScriptInspection,
} from '@nereid/model-archive';

interface FileFacts {
  readonly path: string;
  readonly byteSize: number;
  /** What the file is, in a sentence. */
  readonly summary: string;
  /** Why this machine cannot serve it, and what to do; empty when nothing speaks against it. */
  readonly problems: readonly string[];
}

export interface AotiReport extends FileFacts, AotiInspection {
  readonly kind: 'aoti';
  readonly platform: 'torch_aoti';
  /** Whether this machine has the instructions that the package was compiled for; absent when either is not stated. */
  readonly cpuIsaSupported?: boolean;
}

export interface TorchScriptReport extends FileFacts, TorchScriptInspection {
  readonly kind: 'torchscript';
  readonly platform: 'pytorch_libtorch';
}

/** A file that no server serves. */
interface OtherReport extends FileFacts {
  readonly kind: Exclude<ModelFileKind, 'aoti' | 'torchscript'>;
  /** How to come by one that is served. */
  readonly remedy: string;
}

export type FileReport = AotiReport | TorchScriptReport | OtherReport;

export interface InspectFileOptions {
  /** Which model of a package; its own choice by default. */
  readonly model?: string | undefined;
}

/** @throws {ModelArchiveError} when the file cannot be read, or holds no such model */
export async function inspectFile(path: string, options: InspectFileOptions = {}): Promise<FileReport> {
  const { kind, byteSize, summary, remedy } = await sniffModelFile(path);
  const facts = { path, byteSize, summary };
  if (kind === 'aoti') return { ...facts, kind, platform: 'torch_aoti', ...(await inspectPackage(path, options)) };
  if (kind === 'torchscript') {
    const inspection = await inspectTorchScript(path);
    return { ...facts, kind, platform: 'pytorch_libtorch', ...inspection, problems: forwardProblems(inspection) };
  }
  return { ...facts, kind, remedy: remedy ?? '', problems: ['This kind of file cannot be served.'] };
}

async function inspectPackage(path: string, { model }: InspectFileOptions) {
  const inspection = await inspectAoti(path, { model });
  const host = await readHost();
  const problems = [...compareTarget(inspection.target, host), ...layoutProblems(inspection)];
  const { cpuIsa } = inspection.target;
  if (cpuIsa === undefined || host.cpuFlags === undefined) return { ...inspection, problems };
  return { ...inspection, problems, cpuIsaSupported: isaSupported(cpuIsa, host.cpuFlags).supported };
}

/** What has to be done about it is among the notes. */
function layoutProblems({ inputs = [] }: AotiInspection): readonly string[] {
  const names = inputs.filter(({ contiguous }) => contiguous === false).map(({ ordinalName }) => ordinalName);
  return names.length === 0 ? [] : [`A server refuses the model because of ${names.join(', ')}, not contiguous.`];
}

function forwardProblems({ arguments: taken, methods }: TorchScriptInspection): readonly string[] {
  if (taken !== undefined || methods.length === 0 || methods.includes('forward')) return [];
  return [`The module has no forward, only ${methods.join(', ')}. Export one that computes in forward.`];
}
