import { DeadlineHeap } from './deadline-heap.ts';
import type { Sequence, SequenceDeadline } from './sequence.ts';

/** When sequences are ended that are idle or wait in the backlog; one deadline each at most. */
export class SequenceDeadlines<R, D> {
  readonly #heap = new DeadlineHeap<SequenceDeadline<R, D>>((deadline) => deadline.isOpen);
  #count = 0;

  /** The first of them; Infinity when there is none. */
  get nextMicros(): number {
    return this.#heap.peek()?.deadlineMicros ?? Number.POSITIVE_INFINITY;
  }

  /** @param deadlineMicros  Infinity for none */
  set(sequence: Sequence<R, D>, deadlineMicros: number): void {
    this.clear(sequence);
    if (deadlineMicros === Number.POSITIVE_INFINITY) return;
    const deadline = { deadlineMicros, order: this.#count++, sequence, isOpen: true };
    sequence.deadline = deadline;
    this.#heap.push(deadline);
  }

  /** Sets the deadline if it is earlier than that which is set. */
  shorten(sequence: Sequence<R, D>, deadlineMicros: number): void {
    if (deadlineMicros < (sequence.deadline?.deadlineMicros ?? Number.POSITIVE_INFINITY))
      this.set(sequence, deadlineMicros);
  }

  clear(sequence: Sequence<R, D>): void {
    const { deadline } = sequence;
    if (deadline === undefined) return;
    sequence.deadline = undefined;
    deadline.isOpen = false;
    this.#heap.noteGone();
  }

  /** Takes out the first whose deadline has come. */
  take(nowMicros: number): Sequence<R, D> | undefined {
    if (this.nextMicros > nowMicros) return undefined;
    const sequence = this.#heap.pop()?.sequence;
    if (sequence !== undefined) {
      if (sequence.deadline !== undefined) sequence.deadline.isOpen = false;
      sequence.deadline = undefined;
    }
    return sequence;
  }
}
