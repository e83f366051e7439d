export type {
  AotiInspection,
  CompileTarget,
  DeclaredDim,
  DeclaredTensor,
  DimRange,
  TorchScriptArgument,
  TorchScriptInspection,
} from './types.ts';
