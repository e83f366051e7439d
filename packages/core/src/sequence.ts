/** What a sequence scheduler tells a backend of a request's place in its sequence. */
import type { Tensor } from './tensor.ts';

/** What a backend keeps of a sequence between two of its requests. */
export interface HeldState {
  /** Frees it. Called once, never while a request of the sequence runs. */
  release(): void;
}

/**
 * The implicit state of one sequence: made by the scheduler when the sequence starts, filled by the backend, released by the scheduler when the sequence has
 * ended, expired or was cut short. Every request of the sequence carries the same object, and no two of them run at once.
 */
export class SequenceState {
  /** Owned by the backend; undefined until a run of the sequence has written its state, which then starts from the configured initial state. */
  held: HeldState | undefined = undefined;

  release(): void {
    const { held } = this;
    this.held = undefined;
    held?.release();
  }
}

/** One request's turn in its sequence. */
export interface SequenceTurn {
  /** Of the sequence: the request's own, or the one that the scheduler gave an iterative request without. 0 for padding. */
  readonly correlationId: number | bigint | string;
  /** Control tensors (START, END, READY, CORRID), which the model takes like inputs: shape [1], or [1, 1] for a model that batches. */
  readonly controls: readonly Tensor[];
  /** Undefined for a model without implicit state. */
  readonly state: SequenceState | undefined;
  /**
   * Whether this request stands for a slot without one: made by the scheduler from another request of the batch, with READY false and a state of its own that is
   * thrown away. It counts as a row of the batch; nobody hears its answer.
   */
  readonly isPadding: boolean;
}
