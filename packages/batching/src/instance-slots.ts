import type { InferenceRequest, ModelInstance } from '@nereid/core';
import type { SlotCounter } from './slot-counter.ts';
import type { LimitedInstance } from './turns.ts';

/** What an instance threw or rejected with, against its contract. */
export interface Broken {
  readonly thrown: unknown;
}

/** Told once per run, when it is over. */
export type RunListener = (run: Run, batch: readonly InferenceRequest[], broken: Broken | undefined) => void;

export interface InstanceSlotsInit {
  readonly model: ModelInstance;
  readonly capacity: number;
  /** Its place at the rate limiter, if there is one. */
  readonly limited: LimitedInstance | undefined;
  readonly listener: RunListener;
}

/** A model instance and a `Run` for each batch it is given at a time. */
export class InstanceSlots implements SlotCounter {
  readonly model: ModelInstance;
  /** Batches it is given at a time: at most what the instance takes. It may shrink below `load`. */
  capacity: number;
  load = 0;
  readonly limited: LimitedInstance | undefined;
  readonly #idle: Run[] = [];
  readonly #listener: RunListener;

  constructor({ model, capacity, limited, listener }: InstanceSlotsInit) {
    this.model = model;
    this.capacity = capacity;
    this.limited = limited;
    this.#listener = listener;
  }

  get rank(): number {
    return this.limited?.level ?? 0;
  }

  take(): Run {
    return this.#idle.pop() ?? new Run(this, this.#listener);
  }

  give(run: Run): void {
    this.#idle.push(run);
  }
}

/**
 * One batch on an instance. Kept for the next, with its continuations, so that starting it makes no closure, and no promise besides those of
 * `execute` and of waiting for it.
 */
export class Run {
  readonly instance: InstanceSlots;
  /** When the batch was handed over. */
  startedMicros = 0;
  /** Whether the scheduler measures it. */
  isTimed = false;
  isInline = false;
  #batch: readonly InferenceRequest[] | undefined;
  readonly #listener: RunListener;
  readonly #onResolved = () => this.#finish(undefined);
  readonly #onRejected = (thrown: unknown) => this.#finish({ thrown });

  constructor(instance: InstanceSlots, listener: RunListener) {
    this.instance = instance;
    this.#listener = listener;
  }

  /** Ends later, in a turn of its own, even when the instance throws instead of rejecting: so runs never nest. */
  start(batch: readonly InferenceRequest[]): void {
    this.#batch = batch;
    execute(this.instance.model, batch).then(this.#onResolved, this.#onRejected);
  }

  /** Ends within the call. */
  startInline(batch: readonly InferenceRequest[]): void {
    this.#batch = batch;
    this.#finish(executeInline(this.instance.model, batch));
  }

  #finish(broken: Broken | undefined): void {
    const batch = this.#batch;
    this.#batch = undefined;
    if (batch !== undefined) this.#listener(this, batch, broken);
  }
}

function execute(model: ModelInstance, batch: readonly InferenceRequest[]): Promise<void> {
  try {
    return model.execute(batch);
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

function executeInline(model: ModelInstance, batch: readonly InferenceRequest[]): Broken | undefined {
  try {
    model.executeInline?.(batch);
    return undefined;
  } catch (thrown) {
    return { thrown };
  }
}
