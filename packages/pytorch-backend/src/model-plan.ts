import type { Shape } from '@nereid/core';
import type { DeclaredTensor } from '@nereid/model-archive';
import type { Engine } from './parameters.ts';
import type { InputSpec, OutputSpec, StateSpec } from './tensor-spec.ts';

export interface PlannedInput {
  readonly spec: InputSpec;
  /** Key in the one dictionary argument of a TorchScript `forward`; '' otherwise. */
  readonly key: string;
  /** What a compiled package states of it, batch dimension included; undefined when it states nothing. */
  readonly declared: DeclaredTensor | undefined;
}

export interface PlannedOutput {
  readonly spec: OutputSpec;
  /** Position in the flattened result; −1 when `key` names it. */
  readonly index: number;
  readonly key: string;
}

/** A state, and the result of the model that is its next value. */
export interface PlannedState {
  readonly spec: StateSpec;
  /** Position in the flattened result; −1 when `key` names it. */
  readonly index: number;
  readonly key: string;
}

/** What an instance needs to know to gather requests into a batch and to split the results. */
export interface ModelPlan {
  readonly modelName: string;
  readonly modelVersion: string;
  readonly engine: Engine;
  /** Largest batch; 0 when the tensors have no batch dimension. */
  readonly maxBatchSize: number;
  /** In the order in which the model takes them. */
  readonly inputs: readonly PlannedInput[];
  /** In the order of the configuration. */
  readonly outputs: readonly PlannedOutput[];
  /** In the order of the inputs that take them; absent without implicit state. */
  readonly states?: readonly PlannedState[] | undefined;
  /** Whether all inputs are the requests' own tensors, joined along the batch dimension. */
  readonly isPlain: boolean;
}

/** The shape with the batch dimension in front, where the model batches. */
export function withBatch(plan: Pick<ModelPlan, 'maxBatchSize'>, rows: number, dims: Shape): number[] {
  return plan.maxBatchSize > 0 ? [rows, ...dims] : [...dims];
}
