export { PyTorchBackend, type PyTorchBackendOptions } from './backend.ts';
export { type CheckModelFileOptions, checkModelFile, type ModelFileCheck } from './check-file.ts';
export {
  type CompleteByFileOptions,
  type CompletedByFile,
  completeByFile,
  type ProposeOptions,
  platformOfFile,
  proposeByFile,
} from './completion/complete-by-file.ts';
export type { ConfigProposal, ProposedSide, ProposedTensor } from './completion/propose.ts';
export { PyTorchBackendError, type PyTorchErrorInit, type PyTorchErrorReason } from './errors.ts';
export { type LoadModelOptions, loadModel } from './load-model.ts';
export type { PyTorchModel } from './model.ts';
export type { NumericArray, RunData, RunInput, RunInputSpec, RunOutput } from './run-values.ts';
export type { RunnableModel } from './runnable-model.ts';
export { usableCores } from './usable-cores.ts';
export { usableGpus } from './usable-gpus.ts';
