import type { BatchCloseReason } from '@nereid/core';
import type { Turn } from './sequence.ts';

/** A batch of sequences by its rows; undefined stands for one that is padded. */
export interface SequenceBatch<R, D, I> {
  readonly instance: I;
  readonly rows: readonly (Turn<R, D> | undefined)[];
  readonly reason: BatchCloseReason;
}

/** Takes a batch that is to run now. It may offer turns of other sequences within the call. */
export type BatchSender<R, D, I> = (batch: SequenceBatch<R, D, I>, nowMicros: number) => void;

export interface BatchFormerOptions<R, D, I> {
  readonly instance: I;
  /** Whether two requests can run in one batch. */
  readonly canJoin: (first: R, next: R) => boolean;
  readonly send: BatchSender<R, D, I>;
}

/** Forms the batches of one instance, by one of the strategies. */
export interface BatchFormer<R, D> {
  /** Takes the next turn of a sequence that has a slot here, and of which nothing runs. */
  offer(turn: Turn<R, D>, nowMicros: number): void;
  /** A turn that was offered will not run. */
  withdraw(turn: Turn<R, D>, nowMicros: number): void;
  /** A batch is over. What follows in its sequences was offered before. */
  batchOver(nowMicros: number): void;
  /** The turn of the event loop is over that `wantsTurnEnd` asked about. */
  turnEnd(nowMicros: number): void;
  /** `wakeMicros` has come, or a time before. */
  wake(nowMicros: number): void;
  readonly wantsTurnEnd: boolean;
  /** Infinity for never. */
  readonly wakeMicros: number;
}
