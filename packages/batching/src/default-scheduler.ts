import type { ExecutionReport, InferenceRequest, Scheduler } from '@nereid/core';
import { BatchRunner, type InstanceLoad } from './batch-runner.ts';
import { DefaultPolicy, type SchedulerAction } from './default-policy.ts';
import { checkQueueSize } from './dynamic-batching.ts';
import { rejectionOf } from './errors.ts';
import type { InstanceSlots } from './instance-slots.ts';
import { DEFAULT_AHEAD_MICROS, DEFAULT_MAX_QUEUE_SIZE, type SchedulerOptions } from './scheduler-options.ts';
import { SystemClock } from './system-clock.ts';

const CONTINUE = { type: 'continue' } as const;

/**
 * One request per execution, in order of arrival, on the instance with the least to do.
 *
 * An instance answers a request before its `execute` settles; a request left without an answer is failed with INTERNAL. A request that is
 * cancelled while it waits is failed with CANCELLED and never runs.
 * Source: Triton's default scheduler; the limit of the queue and the look at cancellation are ours.
 */
export class DefaultScheduler implements Scheduler {
  readonly #policy: DefaultPolicy<InferenceRequest, InstanceSlots>;
  readonly #runner: BatchRunner;
  readonly #maxQueueSize: number;
  readonly #onCancel = (request: InferenceRequest) => this.#act(this.#policy.decide({ type: 'cancel', request }));

  /** @throws {RangeError} without instances, for a capacity below 1, and for a limit that is no whole number from 0 on */
  constructor(options: SchedulerOptions) {
    const {
      instances,
      maxQueueSize = DEFAULT_MAX_QUEUE_SIZE,
      inline,
      aheadMicros = DEFAULT_AHEAD_MICROS,
      clock = new SystemClock(),
    } = options;
    checkQueueSize(maxQueueSize);
    this.#runner = new BatchRunner({
      instances,
      clock,
      inline,
      lookAhead: { micros: aheadMicros, most: Number.POSITIVE_INFINITY },
      rateLimits: options.rateLimits,
      answersLate: options.answersLate ?? false,
      slotsFreed: ({ instance, slots }) => this.#free(instance, slots),
      isEmpty: () => this.#policy.queued === 0,
    });
    this.#policy = new DefaultPolicy({ instances: this.#runner.instances, maxQueueSize });
    this.#maxQueueSize = maxQueueSize;
  }

  get queued(): number {
    return this.#policy.queued;
  }

  get executing(): number {
    return this.#runner.executing;
  }

  /** Batches that each instance has: the one that it runs, and those that wait at it. */
  get instances(): readonly InstanceLoad[] {
    return this.#runner.loads;
  }

  enqueue(request: InferenceRequest): void {
    // Something only waits while something runs.
    const exclusive = this.#runner.admitsInline(request, this.#runner.executing === 0);
    const action = this.#policy.decide({ type: 'arrival', request, exclusive });
    if (action === undefined) request.onCancel = this.#onCancel;
    else this.#act(action, exclusive);
  }

  /**
   * Takes an instance's report as the measure of what the model costs. Without reports the time until `execute` settles is taken, which
   * also holds the way to another thread and back.
   */
  observe(execution: ExecutionReport): void {
    this.#runner.observe(execution);
  }

  stop(): Promise<void> {
    this.#policy.decide({ type: 'stop' });
    return this.#runner.stop();
  }

  #free(instance: InstanceSlots, slots: number): void {
    for (let left = slots; left > 0; left--) this.#act(this.#policy.decide({ type: 'slot-free', instance }));
    for (let action = this.#policy.decide(CONTINUE); action !== undefined; action = this.#policy.decide(CONTINUE))
      this.#act(action);
  }

  #act(action: SchedulerAction<InferenceRequest, InstanceSlots> | undefined, isInline = false): void {
    if (action === undefined) return;
    const { request } = action;
    request.onCancel = undefined;
    if (action.type === 'dispatch') this.#runner.run({ batch: [request], instance: action.instance, isInline });
    else request.fail(rejectionOf({ request, reason: action.reason, limit: this.#maxQueueSize }));
  }
}
