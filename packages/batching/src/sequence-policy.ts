/**
 * The sequence batcher as a state machine: what happens goes in, what is to be done comes out. It knows no clock and no promise, and calls nothing but the
 * comparison of two requests.
 *
 * A sequence begins with a request that has START, in a free slot or in the backlog, and takes requests of its correlation ID until END. It has one request
 * at a time with the batches of its slot's instance (`BatchFormer`); which of those run together is the strategy's affair. A slot becomes free when the last
 * request of its sequence is on its way, when the sequence has had nothing to do for the idle time, and when a request of it was cancelled; then the backlog
 * moves up. No time limit but that of the backlog applies to a sequence of which a request waits or runs.
 *
 * Two sequences of one correlation ID never run at once: a later one is held until the earlier is over, so that a model which keeps its own state by
 * that ID sees END before START.
 * Source: Triton core `src/sequence_batch_scheduler.cc`. It lets such two run at once, counts the idle time while a request runs, and notices a cancellation
 * when the request's turn has come.
 */
import type { BatchFormer, BatchSender, SequenceBatch } from './batch-former.ts';
import { FreeSlots } from './free-slots.ts';
import { RequestQueue } from './request-queue.ts';
import { keyOf, Lane, Sequence, type SequencedRequest, type SequenceKey, type Slot, Turn } from './sequence.ts';
import type { CorrelationId } from './sequence-controls.ts';
import { SequenceDeadlines } from './sequence-deadlines.ts';
import type { SequenceAction, SequenceEvent, SequenceRejection, SequenceRejectReason } from './sequence-events.ts';

export interface SequencePolicyOptions<R, D, I> {
  readonly instances: readonly I[];
  readonly slotsPerInstance: number;
  readonly idleMicros: number;
  readonly isIterative: boolean;
  /** When a sequence leaves its slot: with the offer or with the run of its last request. An iterative one leaves when it is over. */
  readonly leavesWith: 'offer' | 'run';
  /** Requests that may wait; 0 for any number. */
  readonly maxQueueSize: number;
  /** The batches of an instance. `send` is not to be called before this returns. */
  readonly former: (instance: I, send: BatchSender<R, D, I>) => BatchFormer<R, D>;
}

/** Numbers given to iterative requests without a correlation ID: above those that a client can send as a signed number. */
const FIRST_GENERATED_ID = 2n ** 63n;

export class SequencePolicy<R extends SequencedRequest, D, I> {
  readonly #options: SequencePolicyOptions<R, D, I>;
  readonly #formers: ReadonlyMap<I, BatchFormer<R, D>>;
  /** The last sequence of each correlation ID that is not over. */
  readonly #table = new Map<SequenceKey, Sequence<R, D>>();
  readonly #freeSlots: FreeSlots<Slot<R, D>>;
  readonly #backlog = new RequestQueue<Lane<R, D>>((lane) => lane.isInBacklog);
  readonly #deadlines = new SequenceDeadlines<R, D>();
  #generatedIds = 0n;
  #queued = 0;
  #live = 0;
  /** Sequences whose last request was offered. They leave when all that may be offered is, so that the backlog comes after it. */
  #leaving: Sequence<R, D>[] = [];
  #isStopping = false;
  #actions: SequenceAction<R, D, I>[] = [];

  constructor(options: SequencePolicyOptions<R, D, I>) {
    const { instances, slotsPerInstance, former } = options;
    const send: BatchSender<R, D, I> = (batch, nowMicros) => this.#dispatch(batch, nowMicros);
    this.#options = options;
    this.#formers = new Map(instances.map((instance) => [instance, former(instance, send)]));
    const places = [...this.#formers.values()].flatMap((batches, place) =>
      Array.from({ length: slotsPerInstance }, (_, index) => ({
        batches,
        index,
        rank: index * instances.length + place,
      })),
    );
    this.#freeSlots = new FreeSlots(places);
  }

  /** Requests that wait. */
  get queued(): number {
    return this.#queued;
  }

  /** Sequences that are not over. */
  get live(): number {
    return this.#live;
  }

  /** Whether a request of this correlation ID without START would be taken. */
  continues(correlationId: CorrelationId): boolean {
    const known = this.#table.get(keyOf(correlationId));
    return known !== undefined && !known.isEnded;
  }

  /** Whether the end of this turn of the event loop is to be told. */
  get wantsTurnEnd(): boolean {
    for (const former of this.#formers.values()) if (former.wantsTurnEnd) return true;
    return false;
  }

  /** When to send a timer event; Infinity for never. */
  get wakeMicros(): number {
    let wakeMicros = this.#deadlines.nextMicros;
    for (const former of this.#formers.values()) wakeMicros = Math.min(wakeMicros, former.wakeMicros);
    return wakeMicros;
  }

  /** Takes note of an event. */
  decide(event: SequenceEvent<R, D, I>): readonly SequenceAction<R, D, I>[] {
    this.#actions = [];
    this.#note(event);
    this.#moveUp(event.nowMicros);
    return this.#actions;
  }

  #note(event: SequenceEvent<R, D, I>): void {
    const { nowMicros } = event;
    switch (event.type) {
      case 'arrival':
        this.#arrive(event.request, nowMicros);
        break;
      case 'turn-end':
        for (const former of this.#formers.values()) if (former.wantsTurnEnd) former.turnEnd(nowMicros);
        break;
      case 'batch-over':
        for (const turn of event.turns) this.#ran(turn, event);
        this.#moveUp(nowMicros);
        this.#formers.get(event.instance)?.batchOver(nowMicros);
        break;
      case 'resume':
        if (event.turn.state === 'held') this.#offer(event.turn, nowMicros);
        break;
      case 'timer':
        this.#expire(nowMicros);
        for (const former of this.#formers.values()) former.wake(nowMicros);
        break;
      case 'cancel':
        this.#cancel(event.turn, nowMicros);
        break;
      case 'stop':
        this.#isStopping = true;
        break;
      default:
        event satisfies never;
    }
  }

  #arrive(request: R, nowMicros: number): void {
    const { maxQueueSize } = this.#options;
    const known = this.#table.get(keyOf(request.correlationId));
    const open = known?.isEnded === false ? known : undefined;
    const reason = this.#refusal(request, open !== undefined);
    if (reason !== undefined) this.#reject({ request, reason });
    else if (maxQueueSize > 0 && this.#queued >= maxQueueSize) {
      this.#reject({ request, reason: 'queue-full', limit: maxQueueSize });
    } else {
      const sequence = open === undefined || request.sequenceStart ? this.#begin(request, { known, nowMicros }) : open;
      this.#enqueue(request, { sequence, nowMicros });
    }
  }

  #refusal(request: R, isOpen: boolean): SequenceRejectReason | undefined {
    const { batchSize, correlationId, sequenceStart } = request;
    const isGenerated = this.#options.isIterative && isNone(correlationId);
    if (batchSize !== 1) return 'batch-size';
    if (isNone(correlationId) && !isGenerated) return 'no-correlation-id';
    if (this.#isStopping && (sequenceStart || isGenerated)) return 'stopping';
    return isOpen || sequenceStart || isGenerated ? undefined : 'no-start';
  }

  /** Begins a sequence: in the lane of one that it cuts short, else in a lane of its own. */
  #begin(
    { correlationId }: R,
    { known, nowMicros }: { readonly known: Sequence<R, D> | undefined; readonly nowMicros: number },
  ): Sequence<R, D> {
    this.#live++;
    if (isNone(correlationId)) {
      const sequence = new Sequence<R, D>(FIRST_GENERATED_ID + this.#generatedIds++, this.#newLane());
      sequence.isEnded = true;
      return sequence;
    }
    const sequence = new Sequence(correlationId, known?.isEnded === false ? known.lane : this.#newLane());
    this.#table.set(keyOf(correlationId), sequence);
    if (known === undefined) return sequence;
    sequence.predecessor = known;
    known.heir = sequence;
    if (!known.isEnded) this.#cutShort(known, nowMicros);
    return sequence;
  }

  #newLane(): Lane<R, D> {
    const lane = new Lane<R, D>();
    lane.slot = this.#freeSlots.take();
    if (lane.slot === undefined) {
      lane.isInBacklog = true;
      this.#backlog.push(lane);
    }
    return lane;
  }

  #cutShort(sequence: Sequence<R, D>, nowMicros: number): void {
    sequence.isEnded = true;
    this.#actions.push({ type: 'cut-short', sequence });
    if (sequence.isIdle) this.#finish(sequence, nowMicros);
  }

  #enqueue(request: R, place: { readonly sequence: Sequence<R, D>; readonly nowMicros: number }): void {
    const { sequence, nowMicros } = place;
    const turn = new Turn(request, place);
    sequence.push(turn);
    if (turn.isEnd) sequence.isEnded = true;
    this.#queued++;
    this.#actions.push({ type: 'wait', turn });
    if (sequence.lane.isInBacklog) this.#deadlines.shorten(sequence, nowMicros + timeoutMicrosOf(request));
    else {
      this.#deadlines.clear(sequence);
      this.#advance(sequence, nowMicros);
    }
    if (request.isCancelled) this.#cancel(turn, nowMicros);
  }

  /** Offers the sequence's next request, if it is its turn. */
  #advance(sequence: Sequence<R, D>, nowMicros: number): void {
    const { slot } = sequence.lane;
    if (slot === undefined || sequence.active !== undefined || sequence.predecessor !== undefined) return;
    const turn = sequence.shift();
    if (turn === undefined) return;
    sequence.active = turn;
    sequence.batches = slot.batches;
    turn.state = 'offered';
    slot.batches.offer(turn, nowMicros);
    if (this.#leaves(turn, 'offer')) this.#leaving.push(sequence);
  }

  #moveUp(nowMicros: number): void {
    for (let next = this.#leaving.shift(); next !== undefined; next = this.#leaving.shift())
      this.#leave(next, nowMicros);
  }

  #dispatch(batch: SequenceBatch<R, D, I>, nowMicros: number): void {
    this.#actions.push({ type: 'dispatch', ...batch });
    for (const turn of batch.rows) {
      if (turn === undefined) continue;
      turn.state = 'running';
      this.#queued--;
    }
    for (const turn of batch.rows) {
      if (turn !== undefined && this.#leaves(turn, 'run')) this.#leave(turn.sequence, nowMicros);
    }
  }

  #leaves({ isEnd }: Turn<R, D>, moment: 'offer' | 'run'): boolean {
    const { isIterative, leavesWith } = this.#options;
    return isEnd && !isIterative && leavesWith === moment;
  }

  /** A run of the turn is over. */
  #ran(turn: Turn<R, D>, { again, held, nowMicros }: BatchOver<R, D>): void {
    const { request, sequence } = turn;
    const runsAgain = again.has(turn);
    if (runsAgain && !request.isCancelled) {
      turn.isStart = false;
      turn.isEnd = false;
      turn.state = 'held';
      this.#queued++;
      this.#actions.push({ type: 'wait', turn });
      if (!held.has(turn)) this.#offer(turn, nowMicros);
      return;
    }
    turn.state = 'gone';
    sequence.active = undefined;
    if (runsAgain) this.#abandon(sequence, { turn, nowMicros });
    else if (sequence.first !== undefined) this.#advance(sequence, nowMicros);
    else if (sequence.isEnded || this.#options.isIterative) this.#finish(sequence, nowMicros);
    else this.#deadlines.set(sequence, nowMicros + this.#options.idleMicros);
  }

  /** A turn that is to run again waits for its next run. */
  #offer(turn: Turn<R, D>, nowMicros: number): void {
    turn.state = 'offered';
    turn.sequence.batches?.offer(turn, nowMicros);
  }

  /** The client takes a request back that was to run again: its sequence ends. */
  #abandon(
    sequence: Sequence<R, D>,
    { turn, nowMicros }: { readonly turn: Turn<R, D>; readonly nowMicros: number },
  ): void {
    sequence.isEnded = true;
    this.#reject({ request: turn.request, reason: 'cancelled' });
    this.#drop(sequence.cut(sequence.first), 'sequence-cancelled');
    this.#finish(sequence, nowMicros);
  }

  /** Ends the sequence with the requests before the cancelled one; without any in the backlog. */
  #cancel(turn: Turn<R, D>, nowMicros: number): void {
    const { sequence, state } = turn;
    if (state === 'running' || state === 'gone') return;
    sequence.isEnded = true;
    const isFirst = state !== 'queued' || sequence.lane.isInBacklog;
    const others = sequence.cut(isFirst ? sequence.first : turn).filter((other) => other !== turn);
    this.#drop([turn], 'cancelled');
    this.#drop(others, 'sequence-cancelled');
    if (state !== 'queued') sequence.active = undefined;
    if (state === 'offered') sequence.batches?.withdraw(turn, nowMicros);
    if (sequence.isIdle) this.#finish(sequence, nowMicros);
  }

  /** Ends sequences that were idle, or waited in the backlog, for too long. */
  #expire(nowMicros: number): void {
    for (let sequence = this.#deadlines.take(nowMicros); sequence; sequence = this.#deadlines.take(nowMicros)) {
      sequence.isEnded = true;
      this.#drop(sequence.cut(sequence.first), 'sequence-timeout');
      this.#finish(sequence, nowMicros);
    }
  }

  #drop(turns: readonly Turn<R, D>[], reason: SequenceRejectReason): void {
    for (const turn of turns) {
      turn.state = 'gone';
      this.#queued--;
      this.#reject({ request: turn.request, reason });
    }
  }

  /** Nothing of the sequence runs or will run. */
  #finish(sequence: Sequence<R, D>, nowMicros: number): void {
    const { predecessor, heir } = sequence;
    this.#live--;
    this.#deadlines.clear(sequence);
    this.#forget(sequence);
    if (predecessor !== undefined) predecessor.heir = heir;
    if (heir !== undefined) heir.predecessor = predecessor;
    this.#actions.push({ type: 'over', sequence });
    this.#leave(sequence, nowMicros);
    if (heir !== undefined) this.#advance(heir, nowMicros);
  }

  #forget(sequence: Sequence<R, D>): void {
    const key = keyOf(sequence.correlationId);
    if (this.#table.get(key) !== sequence) return;
    if (sequence.predecessor === undefined) this.#table.delete(key);
    else this.#table.set(key, sequence.predecessor);
  }

  /** The sequence's lane goes on to the next, or its slot to the backlog. */
  #leave(sequence: Sequence<R, D>, nowMicros: number): void {
    if (sequence.hasLeft) return;
    const { lane } = sequence;
    sequence.hasLeft = true;
    lane.sequences.splice(lane.sequences.indexOf(sequence), 1);
    if (lane.sequences.length > 0) return;
    if (lane.slot !== undefined) this.#vacate(lane.slot, nowMicros);
    else {
      lane.isInBacklog = false;
      this.#backlog.noteGone();
    }
  }

  #vacate(slot: Slot<R, D>, nowMicros: number): void {
    const lane = this.#backlog.shift();
    if (lane === undefined) {
      this.#freeSlots.give(slot);
      return;
    }
    lane.isInBacklog = false;
    lane.slot = slot;
    for (const sequence of lane.sequences) this.#deadlines.clear(sequence);
    // Those behind the first wait for it.
    const [first] = lane.sequences;
    if (first !== undefined) this.#advance(first, nowMicros);
  }

  #reject(rejection: SequenceRejection<R>): void {
    this.#actions.push({ type: 'reject', ...rejection });
  }
}

type BatchOver<R, D> = Pick<
  Extract<SequenceEvent<R, D, unknown>, { readonly type: 'batch-over' }>,
  'again' | 'held' | 'nowMicros'
>;

function isNone(correlationId: CorrelationId): boolean {
  return correlationId === 0 || correlationId === 0n || correlationId === '';
}

function timeoutMicrosOf({ timeoutMicroseconds }: SequencedRequest): number {
  const own = Number(timeoutMicroseconds);
  return own > 0 ? own : Number.POSITIVE_INFINITY;
}
