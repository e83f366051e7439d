import type { Clock, ExecutionReport, InferenceRequest, ModelInstance, Scheduler } from '@nereid/core';
import { DefaultPolicy, type SchedulerAction } from './default-policy.ts';
import { defectOf, rejectionOf } from './errors.ts';
import { FastLane, type FastLaneOptions } from './fast-lane.ts';
import { type Broken, InstanceSlots, type Run } from './instance-slots.ts';
import { SystemClock } from './system-clock.ts';

const DEFAULT_MAX_QUEUE_SIZE = 10_000;

export interface DefaultSchedulerOptions {
  /** Instances of one model version, one at least. They stay the caller's, who closes them after `stop()`. */
  readonly instances: readonly ModelInstance[];
  /**
   * Requests that may wait for an instance; one more is failed with UNAVAILABLE, so that waiting stays bounded under overload.
   * 10 000 by default; 0 means any number.
   */
  readonly maxQueueSize?: number;
  /**
   * Runs short requests on the calling thread while they come one at a time, if the instances can. Off by default. Give the reports of the
   * instances to `observe`, so that runs are measured without the way to the instance's thread.
   */
  readonly inline?: FastLaneOptions;
  /** A `SystemClock` by default. */
  readonly clock?: Clock;
}

/**
 * One request per execution, in order of arrival, on the instance with the least to do.
 *
 * An instance answers a request before its `execute` settles; a request left without an answer is failed with INTERNAL. A request that is
 * cancelled while it waits is failed with CANCELLED and never runs.
 * Source: Triton's default scheduler; the limit of the queue and the look at cancellation are ours.
 */
export class DefaultScheduler implements Scheduler {
  readonly #policy: DefaultPolicy<InferenceRequest, InstanceSlots>;
  readonly #clock: Clock;
  readonly #lane: FastLane | undefined;
  readonly #maxQueueSize: number;
  readonly #onCancel = (request: InferenceRequest) => this.#act(this.#policy.decide({ type: 'cancel', request }));
  #executing = 0;
  #isInline = false;
  /** Whether `observe` is in use; the scheduler times runs itself until then. */
  #isReported = false;
  readonly #stopped: Promise<void>;
  #isStopping = false;
  #resolveStopped: () => void = () => {};

  /** @throws {RangeError} without instances, for a capacity below 1, and for a limit that is no whole number from 0 on */
  constructor(options: DefaultSchedulerOptions) {
    const { instances, maxQueueSize = DEFAULT_MAX_QUEUE_SIZE, inline, clock = new SystemClock() } = options;
    checkInstances(instances);
    checkLimit(maxQueueSize);
    const finished = (run: Run, request: InferenceRequest, broken: Broken | undefined) =>
      this.#finish(run, request, broken);
    this.#policy = new DefaultPolicy({
      instances: instances.map((instance) => new InstanceSlots(instance, finished)),
      maxQueueSize,
    });
    this.#clock = clock;
    this.#maxQueueSize = maxQueueSize;
    const canRunInline = instances.every((instance) => instance.executeInline !== undefined);
    this.#lane = inline !== undefined && canRunInline ? new FastLane(inline) : undefined;
    this.#stopped = new Promise((resolve) => {
      this.#resolveStopped = resolve;
    });
  }

  get queued(): number {
    return this.#policy.queued;
  }

  get executing(): number {
    return this.#executing;
  }

  enqueue(request: InferenceRequest): void {
    // Something only waits while something runs.
    const isAlone = this.#executing === 0;
    const exclusive = this.#lane?.admits({ isAlone, inputBytes: inputBytesOf(request) }) ?? false;
    const action = this.#policy.decide({ type: 'arrival', request, exclusive });
    if (action === undefined) request.onCancel = this.#onCancel;
    else this.#act(action, exclusive);
  }

  /**
   * Takes an instance's report as the measure of what the model costs. Without reports the time until `execute` settles is taken, which
   * also holds the way to another thread and back.
   */
  observe(execution: ExecutionReport): void {
    const [request] = execution.requests;
    if (this.#lane === undefined || request === undefined) return;
    this.#isReported = true;
    const nanos = execution.computeInputNs + execution.computeInferNs + execution.computeOutputNs;
    this.#lane.measured({ micros: nanos / 1000, inputBytes: inputBytesOf(request), isInline: this.#isInline });
  }

  stop(): Promise<void> {
    this.#policy.decide({ type: 'stop' });
    this.#isStopping = true;
    this.#noteIdle();
    return this.#stopped;
  }

  #act(action: SchedulerAction<InferenceRequest, InstanceSlots> | undefined, isInline = false): void {
    if (action === undefined) return;
    action.request.onCancel = undefined;
    if (action.type === 'dispatch') this.#dispatch(action.request, action.instance.take(), isInline);
    else action.request.fail(rejectionOf(action, this.#maxQueueSize));
  }

  #dispatch(request: InferenceRequest, run: Run, isInline: boolean): void {
    const now = this.#clock.nowMicros();
    request.dispatchedMicros = now;
    run.startedMicros = now;
    // A run beside others is not timed: it may have waited for them.
    run.isTimed = this.#lane !== undefined && !this.#isReported && this.#executing === 0;
    run.isInline = isInline;
    this.#executing++;
    this.#isInline = isInline;
    if (isInline) run.startInline(request);
    else run.start(request);
  }

  #finish(run: Run, request: InferenceRequest, broken: Broken | undefined): void {
    const { instance, isInline, isTimed, startedMicros } = run;
    if (isTimed && !this.#isReported) {
      const micros = this.#clock.nowMicros() - startedMicros;
      this.#lane?.measured({ micros, inputBytes: inputBytesOf(request), isInline });
    }
    this.#executing--;
    this.#isInline = false;
    instance.give(run);
    if (!request.isDone) request.fail(defectOf(instance.model.name, broken));
    for (let slots = isInline ? instance.capacity : 1; slots > 0; slots--) {
      this.#act(this.#policy.decide({ type: 'slot-free', instance }));
    }
    this.#noteIdle();
  }

  #noteIdle(): void {
    if (this.#isStopping && this.#executing === 0) this.#resolveStopped();
  }
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

function checkLimit(maxQueueSize: number): void {
  if (Number.isInteger(maxQueueSize) && maxQueueSize >= 0) return;
  throw new RangeError(`maxQueueSize must be a whole number from 0 on, where 0 means no limit; got ${maxQueueSize}`);
}
