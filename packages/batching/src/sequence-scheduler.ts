import {
  type BatchInfo,
  type Clock,
  type ExecutionReport,
  InferenceRequest,
  type Logger,
  type Responder,
  type Scheduler,
  SequenceState,
  silentLogger,
} from '@nereid/core';
import { AnswerOrder } from './answer-order.ts';
import { BatchCounters, type BatchingStatistics } from './batch-counters.ts';
import type { BatchFormer, BatchSender } from './batch-former.ts';
import { BatchRunner, type FreedSlots, type InstanceLoad } from './batch-runner.ts';
import { DirectBatches } from './direct-batches.ts';
import { checkQueueSize } from './dynamic-batching.ts';
import { rejectionOf, wrongIdType } from './errors.ts';
import type { InstanceSlots } from './instance-slots.ts';
import { OldestBatches } from './oldest-batches.ts';
import { PolicyDriver } from './policy-driver.ts';
import { haveSameInputs, type JoinRule } from './same-inputs.ts';
import { DEFAULT_MAX_QUEUE_SIZE, type SchedulerOptions } from './scheduler-options.ts';
import type { Sequence, Turn } from './sequence.ts';
import { directRules, type SequenceBatching, type SequenceRules, sequenceRules } from './sequence-batching.ts';
import { ControlTensors, type CorrelationId, type SequenceControls } from './sequence-controls.ts';
import type { SequenceAction, SequenceEvent } from './sequence-events.ts';
import { SequencePolicy } from './sequence-policy.ts';
import { SystemClock } from './system-clock.ts';

export interface SequenceSchedulerOptions extends Omit<SchedulerOptions, 'inline' | 'aheadMicros' | 'answersLate'> {
  /** Rows of a batch at most. 0 for a model without a batch dimension, whose requests run alone. */
  readonly maxBatchSize: number;
  readonly sequenceBatching: SequenceBatching;
  /** Whether two requests can run in one batch; `haveSameInputs` by default. */
  readonly canJoin?: JoinRule | undefined;
  /** Where sequences are told that the START of another ended; nowhere by default. */
  readonly logger?: Logger | undefined;
  /** Calls back when the current turn of the event loop is over; `setImmediate` by default. */
  readonly afterTurn?: (callback: () => void) => void;
}

/** What is kept with a sequence from its first run on. */
interface SequenceData {
  readonly controls: SequenceControls;
  readonly state: SequenceState | undefined;
}

type Action = SequenceAction<InferenceRequest, SequenceData, InstanceSlots>;
type RequestTurn = Turn<InferenceRequest, SequenceData>;

/**
 * Runs the requests of each sequence one after another on one instance, and those of different sequences together.
 *
 * A request gets its `turn`: the control tensors that the configuration asks for, and the state of its sequence, which no other sequence ever gets. With
 * the Direct strategy rows without a request are padded; padding counts in the size of the batch, and nobody hears its answers. Iterative
 * requests have `reschedule`, to be called before `execute` settles, without a final answer.
 *
 * `maxQueueSize` limits the requests that wait, also for a slot. `stop()` refuses sequences that begin, and resolves when every sequence has ended or been idle
 * for too long.
 * Source: Triton's sequence batcher.
 */
export class SequenceScheduler implements Scheduler {
  readonly #policy: SequencePolicy<InferenceRequest, SequenceData, InstanceSlots>;
  readonly #runner: BatchRunner;
  readonly #rules: SequenceRules;
  readonly #controls: ControlTensors;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #counters = new BatchCounters();
  /** Of each instance that keeps answers in order. */
  readonly #orders = new Map<InstanceSlots, AnswerOrder>();
  /** The turns of each batch that runs. */
  readonly #running = new Map<readonly InferenceRequest[], readonly RequestTurn[]>();
  /** Requests that asked to run again, and what each waits for. */
  readonly #again = new Map<InferenceRequest, Promise<void> | undefined>();
  #padded = 0;
  readonly #driver: PolicyDriver<SequenceEvent<InferenceRequest, SequenceData, InstanceSlots>, Action>;

  /** @throws {RangeError} without instances, and for options that make no sense */
  constructor(options: SequenceSchedulerOptions) {
    const { clock = new SystemClock(), maxBatchSize, maxQueueSize = DEFAULT_MAX_QUEUE_SIZE } = options;
    const { sequenceBatching, afterTurn = setImmediate, logger = silentLogger } = options;
    checkQueueSize(maxQueueSize);
    const { controlInput = [], oldest } = sequenceBatching;
    this.#rules = sequenceRules(sequenceBatching, maxBatchSize);
    this.#controls = new ControlTensors(controlInput, maxBatchSize > 0);
    this.#clock = clock;
    this.#logger = logger;
    this.#runner = new BatchRunner({
      instances: options.instances,
      clock,
      inline: undefined,
      lookAhead: { micros: 0, most: oldest === undefined ? 1 : 2 },
      rateLimits: options.rateLimits,
      answersLate: false,
      slotsFreed: (freed) => this.#batchOver(freed),
      isEmpty: () => this.#policy.live === 0 && this.#driver.isIdle,
      runsAgain: (request) => this.#again.has(request),
    });
    this.#policy = new SequencePolicy({
      ...this.#rules,
      instances: this.#runner.instances,
      leavesWith: oldest === undefined ? 'run' : 'offer',
      maxQueueSize,
      former: formerOf(options, this.#rules),
    });
    this.#driver = new PolicyDriver({
      policy: this.#policy,
      clock,
      afterTurn,
      perform: (action) => this.#perform(action),
      acted: () => this.#runner.noteIdle(),
      isWaiting: () => this.#policy.live > 0,
    });
    if (oldest?.preserveOrdering) {
      for (const instance of this.#runner.instances) this.#orders.set(instance, new AnswerOrder());
    }
  }

  get queued(): number {
    return this.#policy.queued;
  }

  get executing(): number {
    return this.#runner.executing - this.#padded;
  }

  /** Batches that each instance has: the one that it runs, and those that wait at it. */
  get instances(): readonly InstanceLoad[] {
    return this.#runner.loads;
  }

  /** How batches were formed so far, padding included. A single request finds its own batch in `request.batch`. */
  get batching(): BatchingStatistics {
    return this.#counters.snapshot();
  }

  /** Whether the request continues a sequence, so that it is taken also after `stop()`. */
  continues(request: InferenceRequest): boolean {
    return !request.sequenceStart && this.#policy.continues(request.correlationId);
  }

  enqueue(request: InferenceRequest): void {
    const { correlationId: control } = this.#controls;
    if (control !== undefined && !isIdFor(request.correlationId, control)) request.fail(wrongIdType(request, control));
    else this.#driver.tell({ type: 'arrival', request, nowMicros: this.#clock.nowMicros() });
  }

  /** Takes an instance's report as the measure of what the model costs. */
  observe(execution: ExecutionReport): void {
    this.#runner.observe(execution);
  }

  stop(): Promise<void> {
    this.#driver.tell({ type: 'stop', nowMicros: this.#clock.nowMicros() });
    return this.#runner.stop();
  }

  #perform(action: Action): void {
    switch (action.type) {
      case 'wait':
        this.#wait(action.turn);
        break;
      case 'dispatch':
        this.#dispatch(action);
        break;
      case 'reject':
        action.request.onCancel = undefined;
        action.request.fail(rejectionOf(action));
        break;
      case 'over':
        action.sequence.data?.state?.release();
        break;
      case 'cut-short':
        this.#warn(action.sequence);
        break;
      default:
        action satisfies never;
    }
  }

  #wait(turn: RequestTurn): void {
    turn.request.onCancel = () => this.#driver.tell({ type: 'cancel', turn, nowMicros: this.#clock.nowMicros() });
  }

  #dispatch({ rows, instance, reason }: Extract<Action, { readonly type: 'dispatch' }>): void {
    const turns = rows.filter((turn) => turn !== undefined);
    const [model] = turns;
    if (model === undefined) return;
    const id = this.#counters.add(rows.length, reason);
    const info: BatchInfo = {
      id,
      reason,
      requestCount: turns.length,
      batchSize: rows.length,
      instance: instance.model.name,
    };
    const batch = rows.map((turn) => (turn === undefined ? this.#padding(model.request) : this.#prepare(turn)));
    for (const request of batch) request.batch = info;
    const order = this.#orders.get(instance);
    if (order !== undefined) for (const request of batch) if (request.gate === undefined) order.add(request);
    this.#padded += rows.length - turns.length;
    this.#running.set(batch, turns);
    this.#runner.run({ batch, instance, isInline: false });
  }

  #prepare(turn: RequestTurn): InferenceRequest {
    const { request, sequence, isStart, isEnd } = turn;
    sequence.data ??= this.#begin(sequence.correlationId);
    const { controls, state } = sequence.data;
    request.onCancel = undefined;
    const { correlationId } = sequence;
    request.turn = { correlationId, controls: controls.get(isStart, isEnd), state, isPadding: false };
    if (this.#rules.isIterative) request.reschedule ??= (ready) => this.#again.set(request, ready);
    return request;
  }

  #begin(correlationId: CorrelationId): SequenceData {
    const state = this.#rules.isStateful ? new SequenceState() : undefined;
    return { controls: this.#controls.of(correlationId), state };
  }

  /** Stands for a slot without a request: a copy of another, which the model is to ignore. */
  #padding({ inputs, modelName, modelVersion, requestedOutputs }: InferenceRequest): InferenceRequest {
    const request = new InferenceRequest({ modelName, modelVersion, id: '', inputs, requestedOutputs }, NOBODY);
    const state = this.#rules.isStateful ? new SequenceState() : undefined;
    request.turn = { correlationId: 0, controls: this.#controls.padding, state, isPadding: true };
    return request;
  }

  #batchOver({ batch, instance }: FreedSlots): void {
    const turns = this.#running.get(batch) ?? [];
    this.#running.delete(batch);
    this.#padded -= batch.length - turns.length;
    for (const { turn } of batch) if (turn?.isPadding) turn.state?.release();
    const again = new Set<RequestTurn>();
    const held = new Set<RequestTurn>();
    for (const turn of turns) {
      const { request } = turn;
      const ready = this.#again.get(request);
      if (!this.#again.delete(request) || request.isDone) continue;
      again.add(turn);
      if (ready === undefined) continue;
      held.add(turn);
      void ready.then(() => this.#driver.tell({ type: 'resume', turn, nowMicros: this.#clock.nowMicros() }));
    }
    this.#driver.tell({ type: 'batch-over', instance, turns, again, held, nowMicros: this.#clock.nowMicros() });
  }

  #warn({ correlationId }: Sequence<InferenceRequest, SequenceData>): void {
    const fields = { correlationId: String(correlationId) };
    this.#logger.warn(fields, `sequence ${correlationId} was ended by the START of another before it had an END`);
  }
}

/** Hears the answers to padding. */
const NOBODY: Responder = {
  respond(_request, response) {
    response?.release?.();
  },
  fail() {},
};

type Former = (
  instance: InstanceSlots,
  send: BatchSender<InferenceRequest, SequenceData, InstanceSlots>,
) => BatchFormer<InferenceRequest, SequenceData>;

function formerOf(options: SequenceSchedulerOptions, { slotsPerInstance: slots }: SequenceRules): Former {
  const { canJoin = haveSameInputs, maxBatchSize, sequenceBatching } = options;
  const { direct = {}, oldest } = sequenceBatching;
  if (oldest !== undefined) {
    return (instance, send) => new OldestBatches({ ...oldest, maxBatchSize }, { instance, canJoin, send });
  }
  const rules = { ...directRules(direct), slots };
  return (instance, send) => new DirectBatches(rules, { instance, canJoin, send });
}

/** Whether the correlation ID is of the kind that the control takes; none is. */
function isIdFor(correlationId: CorrelationId, { datatype }: { readonly datatype: string }): boolean {
  if (correlationId === 0 || correlationId === '') return true;
  return (typeof correlationId === 'string') === (datatype === 'BYTES');
}
