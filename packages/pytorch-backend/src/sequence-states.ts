/**
 * Implicit state of sequences. The values stay in the addon's memory; here is kept which side of it holds them, and their shapes. A run reads one side and
 * writes the other, and only a request that was answered turns its sequence to what its run wrote: one that failed leaves its sequence as it was.
 */
import { formatShape, type HeldState, type Shape, shapeMatches } from '@nereid/core';
import type { OutputTensor, SequenceHandle } from '@nereid/native';
import { clientDatatype, itemDims } from './check-output.ts';
import { PyTorchBackendError } from './errors.ts';
import type { GatheredBatch } from './gather.ts';
import { type ModelPlan, type PlannedState, withBatch } from './model-plan.ts';
import type { Native } from './native.ts';

/** Makes and frees the addon's memory for sequences. */
export type SequenceMemory = Pick<Native, 'openSequence' | 'releaseSequence'>;

/** The side of a sequence that has written nothing. */
const FRESH = -1;

/** What the addon keeps of one sequence. */
export class KeptState implements HeldState {
  readonly handle: SequenceHandle;
  /** That the next run reads. */
  side = FRESH;
  /** Dimensions of each state as last written, without the batch; undefined before. */
  dims: readonly Shape[] | undefined;
  readonly #memory: SequenceMemory;

  constructor(memory: SequenceMemory) {
    this.#memory = memory;
    this.handle = memory.openSequence();
  }

  /** Turns to what the last run wrote. */
  turn(dims: readonly Shape[]): void {
    this.side = this.side === 0 ? 1 : 0;
    this.dims = dims;
  }

  release(): void {
    this.#memory.releaseSequence(this.handle);
  }
}

/** Dimensions, without the batch, in which a state reaches the model: those last written, or those of the initial value. */
export function stateDims(plan: ModelPlan, state: number, held: HeldState | undefined): Shape {
  const written = held instanceof KeptState ? held.dims?.[state] : undefined;
  return written ?? plan.states?.[state]?.spec.initialDims ?? [];
}

/** The batch with the memory of its sequences. A request that is in none, or pads, starts from the initial values and leaves nothing. */
export function lendStates(batch: GatheredBatch, memory: SequenceMemory): GatheredBatch {
  const kept = batch.requests.map(({ turn }) => {
    if (turn?.state === undefined || turn.isPadding) return undefined;
    const { held } = turn.state;
    return held instanceof KeptState ? held : new KeptState(memory);
  });
  const sequences = kept.map((state) => state?.handle);
  const sides = kept.map((state) => state?.side ?? FRESH);
  return { ...batch, kept, crossing: { ...batch.crossing, sequences, sides } };
}

/**
 * Dimensions in which a batch wrote its states, without the batch.
 * @param written  one per state, without bytes
 * @throws {PyTorchBackendError} `output`: a datatype, shape or number of rows that the configuration does not promise
 */
export function writtenDims(
  plan: ModelPlan,
  batch: Pick<GatheredBatch, 'total'>,
  written: readonly OutputTensor[],
): Shape[] {
  return (plan.states ?? []).map((planned, i) => {
    const tensor = written[i];
    if (tensor === undefined) throw stateError(plan, planned, 'was not returned by the run');
    const { output } = planned.spec;
    const check = { plan, planned: { ...planned, spec: output }, tensor, rows: batch.total };
    clientDatatype(check);
    const found = plan.maxBatchSize > 0 ? itemDims(check) : tensor.shape;
    const expected = output.dims ?? [];
    // Of a batch of strings each row is one, whatever the dims say of it.
    const isOnePerRow = output.datatype === 'BYTES' && plan.maxBatchSize > 0;
    if (isOnePerRow || shapeMatches(expected, found)) return found;
    const shape = formatShape(withBatch(plan, -1, expected));
    throw stateError(plan, planned, `has shape ${formatShape(tensor.shape)}, but the configuration says ${shape}`);
  });
}

/** Gives each sequence whose request was answered what its run wrote. */
export function keepStates(
  { requests, kept }: GatheredBatch,
  run: { readonly dims: readonly Shape[]; readonly hasFailed: (request: number) => boolean },
): void {
  for (const [i, state] of (kept ?? []).entries()) {
    const sequence = requests[i]?.turn?.state;
    if (state === undefined || sequence === undefined) continue;
    if (run.hasFailed(i)) {
      releaseFresh(state);
      continue;
    }
    state.turn(run.dims);
    sequence.held = state;
  }
}

/** After a run that failed: sequences that go on keep what they had. */
export function dropStates({ kept }: GatheredBatch): void {
  for (const state of kept ?? []) if (state !== undefined) releaseFresh(state);
}

/** The first run of a sequence failed: nobody else knows of its memory. */
function releaseFresh(state: KeptState): void {
  if (state.side === FRESH) state.release();
}

function stateError({ modelName }: ModelPlan, { spec }: PlannedState, what: string): PyTorchBackendError {
  const message = `model '${modelName}': state output '${spec.output.name}' ${what}`;
  return new PyTorchBackendError({ code: 'INTERNAL', reason: 'output', message });
}
