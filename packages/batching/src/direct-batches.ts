/**
 * The Direct strategy at one instance: slot i is row i of every batch, and the next batch is formed when the last is over.
 *
 * A batch covers the slots from the first to the last that has a request. Slots between them without one, and those whose inputs cannot be joined with
 * the request that was ready first, are padded; the latter take part in a later batch.
 * Source: Triton core `src/sequence_batch_scheduler.cc`, `DirectSequenceBatch::BatcherThread`, where the request of the lowest slot takes the place of the
 * one that was ready first, so that others wait for as long as its sequence has more.
 */
import type { BatchCloseReason } from '@nereid/core';
import type { BatchFormer, BatchFormerOptions } from './batch-former.ts';
import type { Turn } from './sequence.ts';
import type { DirectRules } from './sequence-batching.ts';
import type { SlotCounter } from './slot-counter.ts';

export class DirectBatches<R, D, I extends SlotCounter> implements BatchFormer<R, D> {
  readonly #options: BatchFormerOptions<R, D, I>;
  readonly #rules: DirectRules;
  /** What is offered, by slot. */
  readonly #slots: (Turn<R, D> | undefined)[];
  #ready = 0;
  #offers = 0;
  wantsTurnEnd = false;

  constructor(rules: DirectRules & { readonly slots: number }, options: BatchFormerOptions<R, D, I>) {
    this.#rules = rules;
    this.#options = options;
    this.#slots = new Array<Turn<R, D> | undefined>(rules.slots).fill(undefined);
  }

  get wakeMicros(): number {
    const isHeld = this.#ready > 0 && this.#isFree && !this.wantsTurnEnd;
    return isHeld ? this.#dueMicros() : Number.POSITIVE_INFINITY;
  }

  offer(turn: Turn<R, D>, nowMicros: number): void {
    const index = turn.sequence.lane.slot?.index ?? 0;
    turn.order = this.#offers++;
    this.#slots[index] = turn;
    this.#ready++;
    if (!this.#isFree) return;
    this.wantsTurnEnd = true;
    this.#form(nowMicros);
  }

  withdraw(turn: Turn<R, D>): void {
    const index = turn.sequence.lane.slot?.index ?? 0;
    if (this.#slots[index] !== turn) return;
    this.#slots[index] = undefined;
    this.#ready--;
  }

  batchOver(nowMicros: number): void {
    this.#options.instance.load = 0;
    this.#form(nowMicros);
  }

  turnEnd(nowMicros: number): void {
    this.wantsTurnEnd = false;
    this.#form(nowMicros);
  }

  wake(nowMicros: number): void {
    this.#form(nowMicros);
  }

  get #isFree(): boolean {
    return this.#options.instance.load === 0;
  }

  #form(nowMicros: number): void {
    if (!this.#isFree || this.#ready === 0) return;
    const isFull = this.#ready === this.#slots.length;
    if (this.wantsTurnEnd && !isFull) return;
    this.wantsTurnEnd = false;
    const reason = isFull ? 'full' : this.#reason(nowMicros);
    if (reason !== undefined) this.#send(reason, nowMicros);
  }

  /** Why a batch that has room is sent now; undefined while it is held back. */
  #reason(nowMicros: number): BatchCloseReason | undefined {
    const { maxDelayMicros, minimumUtilization } = this.#rules;
    if (maxDelayMicros === 0) return 'instance-idle';
    if (this.#ready >= minimumUtilization * this.#slots.length) return 'preferred-size';
    return nowMicros >= this.#dueMicros() ? 'delay' : undefined;
  }

  #dueMicros(): number {
    let oldestMicros = Number.POSITIVE_INFINITY;
    for (const turn of this.#slots) if (turn !== undefined) oldestMicros = Math.min(oldestMicros, turn.enqueuedMicros);
    return oldestMicros + this.#rules.maxDelayMicros;
  }

  #send(reason: BatchCloseReason, nowMicros: number): void {
    const rows = this.#rows();
    let taken = 0;
    for (const [index, turn] of rows.entries()) {
      if (turn === undefined) continue;
      this.#slots[index] = undefined;
      taken++;
    }
    const isSplit = taken < this.#ready;
    this.#ready -= taken;
    const { instance, send } = this.#options;
    instance.load = 1;
    send({ instance, rows, reason: isSplit ? 'shape-change' : reason }, nowMicros);
  }

  #rows(): (Turn<R, D> | undefined)[] {
    let first: Turn<R, D> | undefined;
    let last = 0;
    for (const [index, turn] of this.#slots.entries()) {
      if (turn === undefined) continue;
      if (first === undefined || turn.order < first.order) first = turn;
      last = index;
    }
    const rows = this.#slots.slice(0, last + 1);
    return rows.map((turn) =>
      turn === undefined || first === undefined || this.#joins(first, turn) ? turn : undefined,
    );
  }

  #joins(first: Turn<R, D>, turn: Turn<R, D>): boolean {
    return first === turn || this.#options.canJoin(first.request, turn.request);
  }
}
