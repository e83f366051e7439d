import type {
  BatchInfo,
  BatchStrategy,
  Clock,
  ExecutionReport,
  InferenceRequest,
  Logger,
  Scheduler,
} from '@nereid/core';
import { AnswerOrder } from './answer-order.ts';
import { BatchCounters, type BatchingStatistics } from './batch-counters.ts';
import { batchRules } from './batch-plan.ts';
import { BatchRunner, computeMicrosOf, type FreedSlots, type InstanceLoad } from './batch-runner.ts';
import { checkQueueSize, type DynamicBatching, PriorityLevels } from './dynamic-batching.ts';
import { type DynamicAction, type DynamicEvent, DynamicPolicy } from './dynamic-policy.ts';
import { rejectionOf } from './errors.ts';
import { GuardedStrategy } from './guarded-strategy.ts';
import type { InstanceSlots } from './instance-slots.ts';
import { PolicyDriver } from './policy-driver.ts';
import { rowsOf } from './priority-queue.ts';
import { haveSameInputs, type JoinRule } from './same-inputs.ts';
import { DEFAULT_MAX_QUEUE_SIZE, type SchedulerOptions } from './scheduler-options.ts';
import { SystemClock } from './system-clock.ts';

export interface DynamicSchedulerOptions extends SchedulerOptions {
  /** Rows of a batch at most. 0 for a model without a batch dimension: its requests wait as configured and run alone. */
  readonly maxBatchSize: number;
  /** When requests are joined and how they wait; by default as many as there are, whenever an instance is free. */
  readonly dynamicBatching?: DynamicBatching;
  /** Whether two requests can run in one batch; `haveSameInputs` by default. */
  readonly canJoin?: JoinRule | undefined;
  /**
   * Has a say in which requests share a batch, beside the rules that hold for all. It stays the caller's, who closes it after `stop()`. With one, no request runs
   * inline, as each is to be shown to it.
   */
  readonly strategy?: BatchStrategy | undefined;
  /** Where faults of the strategy are told; nowhere by default. */
  readonly logger?: Logger | undefined;
  /** What the log calls the model. */
  readonly modelName?: string | undefined;
  /** Calls back when the current turn of the event loop is over; `setImmediate` by default. */
  readonly afterTurn?: (callback: () => void) => void;
  /**
   * Turns of the event loop for which a batch waits after the one before, at most, until as many rows are there as that one had: clients that send again when they
   * are answered stay together. It ends sooner when the wait is as long as that batch took. 6 by default; 0 to wait for nobody. Without effect with a queue delay
   * and with a strategy.
   */
  readonly regroupTurns?: number;
  /**
   * Whether a batch may hold half of the requests that are there instead of all that wait, and be handed over while the other half runs, where that was measured to be faster: the
   * model then computes while answers are written and requests are read. true by default. Without effect with a queue delay, a strategy, preferred sizes,
   * limits, timeouts or levels of the queue, and with several instances.
   */
  readonly doubleBuffering?: boolean;
}

const DEFAULT_REGROUP_TURNS = 6;

type Action = DynamicAction<InferenceRequest, InstanceSlots>;

/**
 * Joins requests into batches: what came in one turn of the event loop, what waited while every instance was busy, and, with a queue delay, what comes
 * within it. A request is never split; a batch holds requests of equal inputs (`haveSameInputs`, or `canJoin`) in the order of priority and arrival.
 *
 * `maxQueueSize` limits the requests of all priority levels that have no limit of their own together. Requests are run inline (`inline`) only without
 * a queue delay. An instance answers a request before its `execute` settles; a request left without an answer is failed with INTERNAL.
 * Requests with more rows than `maxBatchSize` are the caller's to refuse; they run alone.
 * Source: Triton's dynamic batcher.
 */
export class DynamicScheduler implements Scheduler {
  readonly #policy: DynamicPolicy<InferenceRequest, InstanceSlots>;
  readonly #runner: BatchRunner;
  readonly #clock: Clock;
  readonly #order: AnswerOrder | undefined;
  readonly #counters = new BatchCounters();
  /** What the instances reported since the last batch ended; undefined while they report nothing at all. */
  #computeMicros: number | undefined;
  readonly #driver: PolicyDriver<DynamicEvent<InferenceRequest, InstanceSlots>, Action>;

  /** @throws {RangeError} without instances, and for options that make no sense or contradict each other */
  constructor(options: DynamicSchedulerOptions) {
    const { clock = new SystemClock(), maxBatchSize, maxQueueSize = DEFAULT_MAX_QUEUE_SIZE } = options;
    const { dynamicBatching = {}, afterTurn = setImmediate, canJoin = haveSameInputs } = options;
    const { regroupTurns = DEFAULT_REGROUP_TURNS, doubleBuffering = true } = options;
    checkQueueSize(maxQueueSize);
    checkRegroupTurns(regroupTurns);
    const strategy = options.strategy && new GuardedStrategy(options.strategy, options);
    const startBatch = strategy && (() => strategy.startBatch());
    const rules = batchRules(dynamicBatching, { maxBatchSize, canJoin, startBatch });
    this.#clock = clock;
    this.#order = dynamicBatching.preserveOrdering ? new AnswerOrder() : undefined;
    this.#runner = new BatchRunner({
      instances: options.instances,
      clock,
      inline: rules.maxDelayMicros === 0 && strategy === undefined ? options.inline : undefined,
      // A batch that waits at an instance can no longer be joined: see `DynamicPolicy` on how far ahead.
      lookAhead: { micros: 0, most: 2 },
      rateLimits: options.rateLimits,
      answersLate: options.answersLate ?? false,
      grow: ({ batch }) => this.#grow(batch),
      slotsFreed: (freed) => this.#free(freed),
      isEmpty: () => this.#policy.queued === 0 && this.#driver.isIdle,
    });
    const levels = new PriorityLevels(dynamicBatching);
    const { instances } = this.#runner;
    this.#policy = new DynamicPolicy({ instances, rules, levels, maxQueueSize, regroupTurns, doubleBuffering });
    this.#driver = new PolicyDriver({
      policy: this.#policy,
      clock,
      afterTurn,
      perform: (action) => this.#perform(action),
      acted: () => this.#runner.noteIdle(),
      isWaiting: () => this.#policy.queued > 0,
    });
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

  /** How batches were formed so far. A single request finds its own batch in `request.batch`. */
  get batching(): BatchingStatistics {
    return this.#counters.snapshot();
  }

  enqueue(request: InferenceRequest): void {
    const exclusive = this.#runner.admitsInline(request, this.#policy.isIdle);
    this.#driver.tell({ type: 'arrival', request, exclusive, nowMicros: this.#clock.nowMicros() });
  }

  /**
   * Takes an instance's report as the measure of what the model costs, for `inline`. Without reports the time until `execute` settles is taken, which
   * also holds the way to another thread and back.
   */
  observe(execution: ExecutionReport): void {
    this.#computeMicros = (this.#computeMicros ?? 0) + computeMicrosOf(execution);
    this.#runner.observe(execution);
  }

  stop(): Promise<void> {
    this.#driver.tell({ type: 'stop', nowMicros: this.#clock.nowMicros() });
    return this.#runner.stop();
  }

  #free({ instance, slots, batch, startedMicros }: FreedSlots): void {
    const nowMicros = this.#clock.nowMicros();
    const rows = batch[0]?.batch?.batchSize ?? 0;
    const ranMicros = nowMicros - startedMicros;
    const finished = { requests: batch.length, rows, ranMicros, computeMicros: this.#computeMicros ?? ranMicros };
    if (this.#computeMicros !== undefined) this.#computeMicros = 0;
    this.#driver.tell({ type: 'slots-free', instance, slots, finished, nowMicros });
  }

  #perform(action: Action): void {
    switch (action.type) {
      case 'wait':
        this.#wait(action);
        break;
      case 'dispatch':
        this.#dispatch(action);
        break;
      case 'reject':
        action.request.onCancel = undefined;
        action.request.fail(rejectionOf(action));
        break;
      default:
        action satisfies never;
    }
  }

  #wait({ waiting }: Extract<Action, { readonly type: 'wait' }>): void {
    const { request } = waiting;
    const cancel = () => this.#driver.tell({ type: 'cancel', waiting, nowMicros: this.#clock.nowMicros() });
    request.onCancel = cancel;
    if (request.isCancelled) cancel();
  }

  #dispatch({ batch, exclusive, instance, reason }: Extract<Action, { readonly type: 'dispatch' }>): void {
    const batchSize = rowsOfAll(batch);
    const id = this.#counters.add(batchSize, reason);
    this.#form(batch, { id, reason, requestCount: batch.length, batchSize, instance: instance.model.name });
    if (this.#order !== undefined) for (const request of batch) this.#order.add(request);
    this.#runner.run({ batch, instance, isInline: exclusive });
  }

  #form(batch: readonly InferenceRequest[], info: BatchInfo): void {
    for (const request of batch) {
      request.onCancel = undefined;
      request.batch = info;
    }
  }

  /** A batch that waited for its turn takes along what came meanwhile. */
  #grow(batch: readonly InferenceRequest[]): readonly InferenceRequest[] {
    const info = batch[0]?.batch;
    const joined = info === undefined ? [] : this.#policy.join({ batch, reason: info.reason });
    if (info === undefined || joined.length === 0) return batch;
    const whole = [...batch, ...joined];
    const batchSize = rowsOfAll(whole);
    this.#counters.grew(info.batchSize, batchSize);
    this.#form(whole, { ...info, requestCount: whole.length, batchSize });
    if (this.#order !== undefined) for (const request of joined) this.#order.add(request);
    this.#driver.arm();
    return whole;
  }
}

function checkRegroupTurns(turns: number): void {
  if (Number.isInteger(turns) && turns >= 0) return;
  throw new RangeError(`regroupTurns must be a whole number from 0 on, got ${turns}`);
}

function rowsOfAll(batch: readonly InferenceRequest[]): number {
  let rows = 0;
  for (const request of batch) rows += rowsOf(request);
  return rows;
}
