export type { CompiledInputs } from './burnt-in.ts';
export { CallSpecError, type CallSpecProblem, type CallSpecReason } from './errors.ts';
export type { CallSpecLimits } from './limits.ts';
export {
  type NamedTensor,
  type NamedTensors,
  type NameOptions,
  nameInputs,
  nameOutputs,
  nameTensors,
  type TensorNames,
} from './names.ts';
export { type CallSpecSource, parseCallSpec } from './parse.ts';
export { type ConfigEntry, type InputRole, type OutputRole, resolveInputs, resolveOutputs } from './resolve.ts';
export type { CallSpec, DictNode, LeafNode, SequenceNode, SpecNode } from './tree.ts';
