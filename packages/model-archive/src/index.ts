export { type CheckedTensor, checkDeclared, formatDeclaredShape, type SymbolSizes } from './check-declared.ts';
export { listCustomOperators } from './custom-operators.ts';
export { ModelArchiveError, type ModelArchiveReason } from './errors.ts';
export { compareTarget, type Host, type IsaSupport, isaSupported, parseCpuFlags, readHost } from './host.ts';
export { type InspectAotiOptions, inspectAoti } from './inspect-aoti.ts';
export { inspectTorchScript } from './inspect-torchscript.ts';
export type { ArchiveLimits } from './limits.ts';
export type { Pickled } from './pickled.ts';
export { type ModelFile, type ModelFileKind, sniffModelFile } from './sniff.ts';
export type {
  AotiInspection,
  CompileTarget,
  DeclaredDim,
  DeclaredTensor,
  DimRange,
  TorchScriptArgument,
  TorchScriptInspection,
} from './types.ts';
export { readWeights, type WeightTensor } from './weights.ts';
