/** What a sequence policy is told, and what it answers. */
import type { SequenceBatch } from './batch-former.ts';
import type { Sequence, Turn } from './sequence.ts';

export type SequenceEvent<R, D, I> =
  /** A request came. */
  | { readonly type: 'arrival'; readonly request: R; readonly nowMicros: number }
  /** The turn of the event loop is over that `wantsTurnEnd` asked about. */
  | { readonly type: 'turn-end'; readonly nowMicros: number }
  /** A batch is over; those of its turns that ask to run again are in `again`, and in `held` too when not before a `resume`. */
  | {
      readonly type: 'batch-over';
      readonly instance: I;
      readonly turns: readonly Turn<R, D>[];
      readonly again: ReadonlySet<Turn<R, D>>;
      readonly held: ReadonlySet<Turn<R, D>>;
      readonly nowMicros: number;
    }
  /** A turn that was held may run again; it may be gone meanwhile. */
  | { readonly type: 'resume'; readonly turn: Turn<R, D>; readonly nowMicros: number }
  /** `wakeMicros` has come, or a time before. */
  | { readonly type: 'timer'; readonly nowMicros: number }
  /** A request that waits was cancelled. */
  | { readonly type: 'cancel'; readonly turn: Turn<R, D>; readonly nowMicros: number }
  /** No more sequences are begun. */
  | { readonly type: 'stop'; readonly nowMicros: number };

export type SequenceAction<R, D, I> =
  /** The request waits; from now on it may be cancelled. */
  | { readonly type: 'wait'; readonly turn: Turn<R, D> }
  | ({ readonly type: 'dispatch' } & SequenceBatch<R, D, I>)
  | ({ readonly type: 'reject' } & SequenceRejection<R>)
  /** Nothing of the sequence runs or will run. */
  | { readonly type: 'over'; readonly sequence: Sequence<R, D> }
  /** A sequence was ended by the START of another of its correlation ID. */
  | { readonly type: 'cut-short'; readonly sequence: Sequence<R, D> };

/** Why a request does not run. */
export type SequenceRejectReason =
  | 'batch-size'
  | 'no-correlation-id'
  | 'no-start'
  | 'stopping'
  | 'cancelled'
  | 'sequence-cancelled'
  | 'sequence-timeout';

export type SequenceRejection<R> =
  /** `limit` requests wait already. */
  | { readonly request: R; readonly reason: 'queue-full'; readonly limit: number }
  | { readonly request: R; readonly reason: SequenceRejectReason };
