import type { Clock, ExecutionReport, InferenceRequest, ModelInstance } from '@nereid/core';
import { defectOf } from './errors.ts';
import { FastLane, type FastLaneOptions } from './fast-lane.ts';
import { type Broken, InstanceSlots, type Run } from './instance-slots.ts';
import { LookAhead, type LookAheadOptions } from './look-ahead.ts';
import type { LimitedInstance } from './turns.ts';

export interface BatchRunnerOptions {
  readonly instances: readonly ModelInstance[];
  readonly clock: Clock;
  readonly inline: FastLaneOptions | undefined;
  readonly lookAhead: LookAheadOptions;
  /** See `SchedulerOptions`. */
  readonly rateLimits: ReadonlyMap<ModelInstance, LimitedInstance> | undefined;
  /** What a batch that waited for its turn is to run as: itself, with requests behind it that came meanwhile. Itself by default. */
  readonly grow?: (runnable: RunnableBatch) => readonly InferenceRequest[];
  /** Told when a batch is over. */
  readonly slotsFreed: (freed: FreedSlots) => void;
  /** Whether a request without an answer is to be answered later. */
  readonly answersLate: boolean;
  /** Whether a request without an answer waits for a further run; by default it was forgotten. */
  readonly runsAgain?: (request: InferenceRequest) => boolean;
  /** Whether no request waits. */
  readonly isEmpty: () => boolean;
}

/** What an instance has to do. */
export interface InstanceLoad {
  readonly name: string;
  readonly batches: number;
}

/** A batch that is over. */
export interface FreedSlots {
  readonly instance: InstanceSlots;
  /** Slots that are free again: all of the instance's after an inline run. */
  readonly slots: number;
  readonly batch: readonly InferenceRequest[];
  /** When it was given to the instance. */
  readonly startedMicros: number;
}

/** A batch for an instance that has a slot for it. */
export interface RunnableBatch {
  readonly batch: readonly InferenceRequest[];
  readonly instance: InstanceSlots;
  readonly isInline: boolean;
}

/** Of runs beside others, one in so many is measured. */
const REPORTS_PER_MEASURE = 8;

/** What all schedulers share: runs batches in the slots of instances, measures them, and knows when the last one is over. */
export class BatchRunner {
  readonly instances: readonly InstanceSlots[];
  readonly #options: BatchRunnerOptions;
  readonly #lane: FastLane | undefined;
  readonly #lookAhead: LookAhead;
  #executing = 0;
  #isInline = false;
  /** Whether `observe` is in use; runs are timed here until then. */
  #isReported = false;
  #passedOver = 0;
  readonly #stopped: Promise<void>;
  #isStopping = false;
  #resolveStopped: () => void = () => {};

  /** @throws {RangeError} without instances and for a capacity below 1 */
  constructor(options: BatchRunnerOptions) {
    const { inline, instances, rateLimits } = options;
    checkInstances(instances);
    const listener = (run: Run, batch: readonly InferenceRequest[], broken: Broken | undefined) =>
      this.#finish(run, batch, broken);
    this.#lookAhead = new LookAhead(options.lookAhead);
    this.instances = instances.map((model) => {
      const limited = rateLimits?.get(model);
      return new InstanceSlots({ model, capacity: this.#depth({ model, limited }), limited, listener });
    });
    this.#options = options;
    const canRunInline = this.instances.every(({ model, limited }) => model.executeInline !== undefined && !limited);
    this.#lane = inline !== undefined && canRunInline ? new FastLane(inline) : undefined;
    this.#stopped = new Promise((resolve) => {
      this.#resolveStopped = resolve;
    });
  }

  /** Requests handed to an instance and not yet done. */
  get executing(): number {
    return this.#executing;
  }

  get loads(): readonly InstanceLoad[] {
    return this.instances.map(({ model, load }) => ({ name: model.name, batches: load }));
  }

  /**
   * To be asked for every arrival: whether it is to run inline, now.
   * @param isAlone  nothing else waits or runs
   */
  admitsInline(request: InferenceRequest, isAlone: boolean): boolean {
    if (this.#lane === undefined) return false;
    // Under load nothing is alone: its size is not worth counting.
    return this.#lane.admits({ isAlone, inputBytes: isAlone ? inputBytesOf(request) : 0 });
  }

  /** Runs the batch now, or, before a rate limiter, when its turn has come. */
  run(runnable: RunnableBatch): void {
    const { batch, instance, isInline } = runnable;
    const run = instance.take();
    // A run beside others is not timed: it may have waited for them.
    run.isTimed = !this.#isReported && this.#executing === 0;
    run.isInline = isInline;
    this.#executing += batch.length;
    this.#isInline = isInline;
    if (instance.limited === undefined) this.#start(run, batch);
    else this.#stage(run, { runnable, limited: instance.limited });
  }

  #stage(
    run: Run,
    { runnable, limited }: { readonly runnable: RunnableBatch; readonly limited: LimitedInstance },
  ): void {
    let isAtOnce = true;
    limited.stage(() => this.#start(run, isAtOnce ? runnable.batch : this.#grown(runnable)));
    isAtOnce = false;
  }

  #grown(runnable: RunnableBatch): readonly InferenceRequest[] {
    const batch = this.#options.grow?.(runnable) ?? runnable.batch;
    this.#executing += batch.length - runnable.batch.length;
    return batch;
  }

  #start(run: Run, batch: readonly InferenceRequest[]): void {
    const now = this.#options.clock.nowMicros();
    // A request that runs again keeps the time that ended its wait.
    for (const request of batch) if (request.dispatchedMicros === 0) request.dispatchedMicros = now;
    run.startedMicros = now;
    if (run.isInline) run.startInline(batch);
    else run.start(batch);
  }

  /** Takes an instance's report as the measure of what the model costs, from the first on in place of measures of its own. */
  observe(execution: ExecutionReport): void {
    const { requests } = execution;
    if (requests.length === 0) return;
    // Under load there are plenty of runs, and few of them tell enough.
    if (this.#isReported && this.#executing > requests.length && ++this.#passedOver % REPORTS_PER_MEASURE !== 0) return;
    this.#isReported = true;
    this.#measured(computeMicrosOf(execution), { batch: requests, isInline: this.#isInline });
  }

  #measured(micros: number, run: { readonly batch: readonly InferenceRequest[]; readonly isInline: boolean }): void {
    if (this.#lane !== undefined) {
      this.#lane.measured({ micros, inputBytes: batchBytes(run.batch), isInline: run.isInline });
    }
    this.#lookAhead.measured(micros);
    for (const instance of this.instances) instance.capacity = this.#depth(instance);
  }

  /** A batch that waits at an instance would hold what the rate limiter has not granted. */
  #depth({ model, limited }: Pick<InstanceSlots, 'model' | 'limited'>): number {
    return limited === undefined ? this.#lookAhead.depth(model.capacity) : 1;
  }

  /** @returns a promise for the end of the last batch; no request may enter the queue any more */
  stop(): Promise<void> {
    this.#isStopping = true;
    this.noteIdle();
    return this.#stopped;
  }

  #finish(run: Run, batch: readonly InferenceRequest[], broken: Broken | undefined): void {
    const { instance, isInline, isTimed, startedMicros } = run;
    if (isTimed && !this.#isReported) {
      this.#measured(this.#options.clock.nowMicros() - startedMicros, { batch, isInline });
    }
    this.#executing -= batch.length;
    this.#isInline = false;
    instance.give(run);
    for (const request of batch) {
      if (request.isDone || (broken === undefined && this.#mayBeOpen(request))) continue;
      request.fail(defectOf(instance.model.name, broken));
    }
    const freed = { instance, slots: isInline ? instance.load : 1, batch, startedMicros };
    if (instance.limited === undefined) this.#options.slotsFreed(freed);
    else instance.limited.release(() => this.#options.slotsFreed(freed));
    this.noteIdle();
  }

  #mayBeOpen(request: InferenceRequest): boolean {
    const { answersLate, runsAgain } = this.#options;
    return answersLate || (runsAgain?.(request) ?? false);
  }

  /** To be called when a request left the queue without running. */
  noteIdle(): void {
    if (this.#isStopping && this.#executing === 0 && this.#options.isEmpty()) this.#resolveStopped();
  }
}

/** What the model took for a batch, its tensors' way in and out included. */
export function computeMicrosOf({ computeInputNs, computeInferNs, computeOutputNs }: ExecutionReport): number {
  return (computeInputNs + computeInferNs + computeOutputNs) / 1000;
}

function batchBytes(batch: readonly InferenceRequest[]): number {
  let bytes = 0;
  for (const request of batch) bytes += inputBytesOf(request);
  return bytes;
}

function inputBytesOf(request: InferenceRequest): number {
  let bytes = 0;
  for (const input of request.inputs) bytes += input.data.byteLength;
  return bytes;
}

function checkInstances(instances: readonly ModelInstance[]): void {
  if (instances.length === 0) throw new RangeError('a scheduler needs one instance at least, got none');
  for (const { name, capacity } of instances) {
    if (Number.isInteger(capacity) && capacity >= 1) continue;
    throw new RangeError(`the capacity of instance '${name}' must be a whole number from 1 on, got ${capacity}`);
  }
}
