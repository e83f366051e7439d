import type { InferenceRequest, ModelInstance } from '@nereid/core';
import type { SlotCounter } from './default-policy.ts';

/** What an instance threw or rejected with, against its contract. */
export interface Broken {
  readonly thrown: unknown;
}

/** Told once per run, when it is over. */
export type RunListener = (run: Run, request: InferenceRequest, broken: Broken | undefined) => void;

/** A model instance and one `Run` for each request it takes at a time. */
export class InstanceSlots implements SlotCounter {
  readonly model: ModelInstance;
  readonly capacity: number;
  load = 0;
  readonly #idle: Run[];

  constructor(model: ModelInstance, listener: RunListener) {
    this.model = model;
    this.capacity = model.capacity;
    this.#idle = Array.from({ length: model.capacity }, () => new Run(this, listener));
  }

  /** @throws {Error} when every run is taken: a defect of the caller */
  take(): Run {
    const run = this.#idle.pop();
    if (run === undefined) throw new Error(`instance '${this.model.name}' has no free slot`);
    return run;
  }

  give(run: Run): void {
    this.#idle.push(run);
  }
}

/**
 * One request on an instance. Made once per slot, with its continuations, so that starting it makes no closure, and no promise besides those of
 * `execute` and of waiting for it.
 */
export class Run {
  readonly instance: InstanceSlots;
  /** When the request was handed over. */
  startedMicros = 0;
  /** Whether the scheduler measures it. */
  isTimed = false;
  isInline = false;
  #request: InferenceRequest | undefined;
  readonly #listener: RunListener;
  readonly #onResolved = () => this.#finish(undefined);
  readonly #onRejected = (thrown: unknown) => this.#finish({ thrown });

  constructor(instance: InstanceSlots, listener: RunListener) {
    this.instance = instance;
    this.#listener = listener;
  }

  /** Ends later, in a turn of its own, even when the instance throws instead of rejecting: so runs never nest. */
  start(request: InferenceRequest): void {
    this.#request = request;
    execute(this.instance.model, request).then(this.#onResolved, this.#onRejected);
  }

  /** Ends within the call. */
  startInline(request: InferenceRequest): void {
    this.#request = request;
    this.#finish(executeInline(this.instance.model, request));
  }

  #finish(broken: Broken | undefined): void {
    const request = this.#request;
    this.#request = undefined;
    if (request !== undefined) this.#listener(this, request, broken);
  }
}

function execute(model: ModelInstance, request: InferenceRequest): Promise<void> {
  try {
    return model.execute([request]);
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

function executeInline(model: ModelInstance, request: InferenceRequest): Broken | undefined {
  try {
    model.executeInline?.([request]);
    return undefined;
  } catch (thrown) {
    return { thrown };
  }
}
