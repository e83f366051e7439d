/**
 * What waits for a dynamic batcher. Levels are served in ascending order; in a level those come first whose time is not up, then those it was up
 * for and who wait on nevertheless (timeout action DELAY), each in the order of arrival.
 */
import { DeadlineHeap, type Timed } from './deadline-heap.ts';
import { type LevelPolicy, type PriorityLevel, type PriorityLevels, timeoutMicrosOf } from './dynamic-batching.ts';
import { RequestQueue } from './request-queue.ts';

/** What the queue has to know of a request. */
export interface QueuedRequest {
  /** Rows it adds to a batch. */
  readonly batchSize: number;
  readonly priority: number | bigint;
  readonly timeoutMicroseconds: number | bigint;
}

/** One request in the queue, for as long as it waits there. */
export interface Waiting<R> extends Timed {
  readonly request: R;
  readonly rows: number;
  readonly level: Level<R>;
  readonly enqueuedMicros: number;
  /** Infinity when it may wait for any time. */
  readonly deadlineMicros: number;
  /** `delayed`: its time was up and it waits on; `gone`: it waits no longer. Written by the queue only. */
  state: 'fresh' | 'delayed' | 'gone';
}

/** Requests of one priority. */
interface Level<R> {
  readonly priority: PriorityLevel;
  readonly policy: LevelPolicy;
  readonly fresh: RequestQueue<Waiting<R>>;
  readonly delayed: RequestQueue<Waiting<R>>;
  /** Whether it stays when nobody waits in it. */
  readonly isPermanent: boolean;
}

/** Why a request was not taken: this limit is reached, of its level or, without one, of all levels that have none. */
export interface QueueFull {
  readonly limit: number;
}

const isFresh = (waiting: { readonly state: string }): boolean => waiting.state === 'fresh';
const isDelayed = (waiting: { readonly state: string }): boolean => waiting.state === 'delayed';

/** A request of no rows takes a place in a batch all the same, so that a batch stays bounded. */
export function rowsOf({ batchSize }: { readonly batchSize: number }): number {
  return Math.max(1, batchSize);
}

export class PriorityQueue<R extends QueuedRequest> {
  readonly #levels: PriorityLevels;
  readonly #maxQueueSize: number;
  /** Ascending. Found by halving; one more moves those behind it, which is cheap for the levels that are in use at a time. */
  readonly #sorted: Level<R>[] = [];
  readonly #deadlines = new DeadlineHeap<Waiting<R>>(isFresh);
  #arrivals = 0;
  #size = 0;
  #rows = 0;
  /** Requests in levels without a limit of their own. */
  #unlimited = 0;

  /** @param maxQueueSize  requests that may wait in all levels without a limit of their own together; 0 for any number */
  constructor(levels: PriorityLevels, maxQueueSize: number) {
    this.#levels = levels;
    this.#maxQueueSize = maxQueueSize;
    for (const priority of new Set([levels.defaultLevel, ...levels.policies.keys()])) this.#levelAt(priority, true);
  }

  /** Requests that wait. */
  get size(): number {
    return this.#size;
  }

  /** Their rows together. */
  get rows(): number {
    return this.#rows;
  }

  /** When the first of them times out; Infinity when none does. */
  get nextDeadlineMicros(): number {
    return this.#deadlines.peek()?.deadlineMicros ?? Number.POSITIVE_INFINITY;
  }

  push(request: R, nowMicros: number): Waiting<R> | QueueFull {
    const level = this.#levelAt(this.#levels.levelOf(request.priority), false);
    const full = this.#fullness(level);
    if (full !== undefined) {
      this.#dropIfEmpty(level);
      return full;
    }
    const waiting: Waiting<R> = {
      request,
      rows: rowsOf(request),
      level,
      enqueuedMicros: nowMicros,
      deadlineMicros: nowMicros + timeoutMicrosOf(level.policy, request.timeoutMicroseconds),
      order: this.#arrivals++,
      state: 'fresh',
    };
    level.fresh.push(waiting);
    if (waiting.deadlineMicros !== Number.POSITIVE_INFINITY) this.#deadlines.push(waiting);
    this.#count(waiting, 1);
    return waiting;
  }

  /** Whether nobody is to be served after it. */
  isLast({ level, state }: Waiting<R>): boolean {
    for (let i = this.#sorted.length - 1; i >= 0; i--) {
      const last = this.#sorted[i];
      if (last !== undefined && sizeOf(last) > 0)
        return last === level && (state === 'delayed' || level.delayed.size === 0);
    }
    return false;
  }

  /** Shows those that wait to `visitor` in the order of service, until it returns false. It must not change the queue. */
  visit(visitor: (waiting: Waiting<R>) => boolean): void {
    for (const level of this.#sorted) {
      if (!level.fresh.visit(visitor) || !level.delayed.visit(visitor)) return;
    }
  }

  /** Takes out the first `count` in the order of service. */
  take(count: number): R[] {
    const taken: R[] = [];
    for (let i = 0; taken.length < count; ) {
      const level = this.#sorted[i];
      if (level === undefined) break;
      const next = level.fresh.shift() ?? level.delayed.shift();
      if (next === undefined) {
        i++;
        continue;
      }
      this.#leave(next);
      taken.push(next.request);
      this.#dropIfEmpty(level);
    }
    return taken;
  }

  /** Takes out one that waits, wherever it stands. */
  remove(waiting: Waiting<R>): void {
    const { level, state } = waiting;
    this.#leave(waiting);
    (state === 'delayed' ? level.delayed : level.fresh).noteGone();
    this.#dropIfEmpty(level);
  }

  /**
   * Applies the timeout action to those whose deadline has passed.
   * @param isDue  whether a deadline of just now has passed as well
   * @returns those to reject, earliest deadline first; they wait no longer
   */
  expire(nowMicros: number, isDue: boolean): R[] {
    const rejected: R[] = [];
    for (let next = this.#deadlines.peek(); next !== undefined; next = this.#deadlines.peek()) {
      if (isDue ? next.deadlineMicros > nowMicros : next.deadlineMicros >= nowMicros) break;
      this.#deadlines.pop();
      if (next.level.policy.timeoutAction === 'DELAY') delay(next);
      else rejected.push(this.#reject(next));
    }
    return rejected;
  }

  #reject(waiting: Waiting<R>): R {
    waiting.state = 'gone';
    waiting.level.fresh.noteGone();
    this.#count(waiting, -1);
    this.#dropIfEmpty(waiting.level);
    return waiting.request;
  }

  #leave(waiting: Waiting<R>): void {
    const isTimed = waiting.state === 'fresh' && waiting.deadlineMicros !== Number.POSITIVE_INFINITY;
    waiting.state = 'gone';
    if (isTimed) this.#deadlines.noteGone();
    this.#count(waiting, -1);
  }

  #count({ level, rows }: Waiting<R>, sign: 1 | -1): void {
    this.#size += sign;
    this.#rows += sign * rows;
    if (level.policy.maxQueueSize === 0) this.#unlimited += sign;
  }

  #fullness(level: Level<R>): QueueFull | undefined {
    const own = level.policy.maxQueueSize;
    if (own > 0) return sizeOf(level) >= own ? { limit: own } : undefined;
    const limit = this.#maxQueueSize;
    return limit > 0 && this.#unlimited >= limit ? { limit } : undefined;
  }

  /** The level of this priority, made on demand. */
  #levelAt(priority: PriorityLevel, isPermanent: boolean): Level<R> {
    const index = this.#indexOf(priority);
    const known = this.#sorted[index];
    if (known?.priority === priority) return known;
    const policy = this.#levels.policyOf(priority);
    const [fresh, delayed] = [new RequestQueue<Waiting<R>>(isFresh), new RequestQueue<Waiting<R>>(isDelayed)];
    const level = { priority, policy, fresh, delayed, isPermanent };
    this.#sorted.splice(index, 0, level);
    return level;
  }

  /** Where the level stands or is to stand. */
  #indexOf(priority: PriorityLevel): number {
    let low = 0;
    for (let high = this.#sorted.length; low < high; ) {
      const middle = (low + high) >> 1;
      const level = this.#sorted[middle];
      if (level !== undefined && level.priority < priority) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #dropIfEmpty(level: Level<R>): boolean {
    if (level.isPermanent || sizeOf(level) > 0) return false;
    this.#sorted.splice(this.#indexOf(level.priority), 1);
    return true;
  }
}

function sizeOf<R>(level: Level<R>): number {
  return level.fresh.size + level.delayed.size;
}

function delay<R>(waiting: Waiting<R>): void {
  waiting.state = 'delayed';
  waiting.level.fresh.noteGone();
  waiting.level.delayed.push(waiting);
}
