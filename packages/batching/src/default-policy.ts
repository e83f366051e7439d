/**
 * The default scheduler as a state machine: what happens goes in, at most one thing to do comes out. It knows no clock and no promise, and never
 * calls anything.
 *
 * A request is refused, runs at once when a slot is free, or waits; each slot that becomes free goes to the request that waited longest.
 */
import { RequestQueue } from './request-queue.ts';
import { leastLoaded, type SlotCounter } from './slot-counter.ts';

/** What the policy has to know of a request: a cancelled one counts no longer. */
export interface Cancellable {
  readonly isCancelled: boolean;
}

export type SchedulerEvent<R, I> =
  /** A request came. `exclusive` asks for every slot of an instance; only allowed while nothing runs. */
  | { readonly type: 'arrival'; readonly request: R; readonly exclusive: boolean }
  /** A slot of an instance is free again; an exclusive run frees all of them, one event each. */
  | { readonly type: 'slot-free'; readonly instance: I }
  /** Asks for another dispatch after one: an instance may have been given more slots. */
  | { readonly type: 'continue' }
  /** A request that waits was cancelled; it already says so itself. */
  | { readonly type: 'cancel'; readonly request: R }
  /** No more arrivals are taken. */
  | { readonly type: 'stop' };

type RejectReason = 'queue-full' | 'stopping' | 'cancelled';

export type SchedulerAction<R, I> =
  | { readonly type: 'dispatch'; readonly request: R; readonly instance: I }
  | { readonly type: 'reject'; readonly request: R; readonly reason: RejectReason };

export interface DefaultPolicyOptions<I> {
  readonly instances: readonly I[];
  /** Requests that may wait; one more is rejected. 0 means any number. */
  readonly maxQueueSize: number;
}

export class DefaultPolicy<R extends Cancellable, I extends SlotCounter> {
  readonly #instances: readonly I[];
  readonly #maxQueueSize: number;
  readonly #queue = new RequestQueue<R>((request) => !request.isCancelled);
  #isStopping = false;

  constructor(options: DefaultPolicyOptions<I>) {
    this.#instances = options.instances;
    this.#maxQueueSize = options.maxQueueSize;
  }

  /** Requests that wait. */
  get queued(): number {
    return this.#queue.size;
  }

  /** Takes note of an event. An arrival without an action waits. */
  decide(event: SchedulerEvent<R, I>): SchedulerAction<R, I> | undefined {
    switch (event.type) {
      case 'arrival':
        return this.#arrive(event.request, event.exclusive);
      case 'slot-free':
        event.instance.load--;
        return this.#next();
      case 'continue':
        return this.#next();
      case 'cancel':
        this.#queue.noteGone();
        return { type: 'reject', request: event.request, reason: 'cancelled' };
      case 'stop':
        this.#isStopping = true;
        return undefined;
      default:
        return event satisfies never;
    }
  }

  #arrive(request: R, exclusive: boolean): SchedulerAction<R, I> | undefined {
    if (this.#isStopping) return { type: 'reject', request, reason: 'stopping' };
    if (request.isCancelled) return { type: 'reject', request, reason: 'cancelled' };
    const instance = leastLoaded(this.#instances);
    if (instance !== undefined) {
      instance.load = exclusive ? instance.capacity : instance.load + 1;
      return { type: 'dispatch', request, instance };
    }
    if (this.#maxQueueSize > 0 && this.#queue.size >= this.#maxQueueSize) {
      return { type: 'reject', request, reason: 'queue-full' };
    }
    this.#queue.push(request);
    return undefined;
  }

  /** What waited longest takes a free slot; asked before a later arrival can. */
  #next(): SchedulerAction<R, I> | undefined {
    if (this.#queue.size === 0) return undefined;
    const instance = leastLoaded(this.#instances);
    const request = instance && this.#queue.shift();
    if (instance === undefined || request === undefined) return undefined;
    instance.load++;
    return { type: 'dispatch', request, instance };
  }
}
