/**
 * What a sequence scheduler keeps: requests (turns) in sequences, sequences in lanes, lanes in slots or in the backlog.
 *
 * A lane holds one sequence, or several of one correlation ID of which each began before the last had ended. `D` is what the driver keeps with a sequence.
 */
import type { BatchFormer } from './batch-former.ts';
import type { Timed } from './deadline-heap.ts';
import type { BatchableRequest } from './dynamic-policy.ts';
import type { Waiting } from './priority-queue.ts';
import type { CorrelationId } from './sequence-controls.ts';

/** What the policy has to know of a request. */
export interface SequencedRequest {
  /** 0 and '' mean none. */
  readonly correlationId: CorrelationId;
  readonly sequenceStart: boolean;
  readonly sequenceEnd: boolean;
  readonly timeoutMicroseconds: number | bigint;
  readonly batchSize: number;
  readonly isCancelled: boolean;
}

/** One request in its sequence. It may run several times when sequences are iterative. */
export class Turn<R, D> implements BatchableRequest {
  readonly request: R;
  readonly sequence: Sequence<R, D>;
  /** What the control tensors of its next run say. */
  isStart: boolean;
  isEnd: boolean;
  readonly enqueuedMicros: number;
  /**
   * `offered`: next of its sequence, given to the batches of an instance; `held`: to run again, but not yet; `gone`: done, or left without running.
   */
  state: 'queued' | 'offered' | 'running' | 'held' | 'gone' = 'queued';
  previous: Turn<R, D> | undefined = undefined;
  next: Turn<R, D> | undefined = undefined;
  /** Running number of its offer: what was offered first has the lowest. Written by the Direct strategy. */
  order = 0;
  /** Its place in the queue of the Oldest strategy, once it was offered there. */
  waiting: Waiting<Turn<R, D>> | undefined = undefined;

  constructor(
    request: R & SequencedRequest,
    { sequence, nowMicros }: { readonly sequence: Sequence<R, D>; readonly nowMicros: number },
  ) {
    this.request = request;
    this.sequence = sequence;
    this.isStart = !sequence.hasBegun;
    this.isEnd = request.sequenceEnd;
    this.enqueuedMicros = nowMicros;
  }

  get batchSize(): number {
    return 1;
  }

  get priority(): number {
    return 0;
  }

  get timeoutMicroseconds(): number {
    return 0;
  }

  get isCancelled(): boolean {
    return false;
  }
}

/** When a sequence that is idle, or waits in the backlog, is ended. */
export interface SequenceDeadline<R, D> extends Timed {
  readonly sequence: Sequence<R, D>;
  /** Written by `SequenceDeadlines` only. */
  isOpen: boolean;
}

/** One spelling per correlation ID, so that it can be a key. A number and a string of the same digits differ. */
export type SequenceKey = number | bigint | string;

export function keyOf(correlationId: CorrelationId): SequenceKey {
  if (typeof correlationId !== 'bigint') return correlationId;
  return correlationId <= Number.MAX_SAFE_INTEGER ? Number(correlationId) : correlationId;
}

export class Sequence<R, D> {
  readonly correlationId: CorrelationId;
  readonly lane: Lane<R, D>;
  /** Whether no more requests are taken: END came, it was cut short or cancelled, or nobody knows its correlation ID. */
  isEnded = false;
  /** Whether it has left its lane: its last request is on its way, or it is over. */
  hasLeft = false;
  /** Whether it has had a request. */
  hasBegun = false;
  /** Its next request, offered or running; one at a time. */
  active: Turn<R, D> | undefined = undefined;
  /** The first and the last of those that are queued behind it. */
  first: Turn<R, D> | undefined = undefined;
  last: Turn<R, D> | undefined = undefined;
  /** Until when it may be idle, or wait in the backlog. */
  deadline: SequenceDeadline<R, D> | undefined = undefined;
  /** Sequences of the same correlation ID that are not over: the one that this waits for, and the one that waits for this. */
  predecessor: Sequence<R, D> | undefined = undefined;
  heir: Sequence<R, D> | undefined = undefined;
  /** The batches its requests run in; known once its lane has a slot and its first request is next. */
  batches: BatchFormer<R, D> | undefined = undefined;
  /** Owned by the driver. */
  data: D | undefined = undefined;

  constructor(correlationId: CorrelationId, lane: Lane<R, D>) {
    this.correlationId = correlationId;
    this.lane = lane;
    lane.sequences.push(this);
  }

  /** Whether no request of it waits or runs. */
  get isIdle(): boolean {
    return this.active === undefined && this.first === undefined;
  }

  push(turn: Turn<R, D>): void {
    this.hasBegun = true;
    turn.previous = this.last;
    if (this.last === undefined) this.first = turn;
    else this.last.next = turn;
    this.last = turn;
  }

  shift(): Turn<R, D> | undefined {
    const turn = this.first;
    if (turn === undefined) return undefined;
    this.first = turn.next;
    if (this.first === undefined) this.last = undefined;
    else this.first.previous = undefined;
    turn.next = undefined;
    return turn;
  }

  /** Takes out a turn that is queued and all behind it, in their order; none for undefined. */
  cut(from: Turn<R, D> | undefined): readonly Turn<R, D>[] {
    const cut: Turn<R, D>[] = [];
    if (from === undefined) return cut;
    for (let turn: Turn<R, D> | undefined = from; turn !== undefined; turn = turn.next) cut.push(turn);
    this.last = from.previous;
    if (this.last === undefined) this.first = undefined;
    else this.last.next = undefined;
    return cut;
  }
}

/** Sequences that follow one another in a slot, or in the backlog until they get one. */
export class Lane<R, D> {
  readonly sequences: Sequence<R, D>[] = [];
  slot: Slot<R, D> | undefined = undefined;
  isInBacklog = false;
}

/** A place for a sequence at an instance. */
export interface Slot<R, D> {
  /** Among the slots of the instance, from 0 on. */
  readonly index: number;
  /** Order in which free slots are given away. */
  readonly rank: number;
  readonly batches: BatchFormer<R, D>;
}
