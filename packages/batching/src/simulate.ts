/** The dynamic batcher in virtual time: the policy that serves requests, driven by a list of arrivals and a model of what a batch costs. */
import { BatchCounters, type BatchingStatistics } from './batch-counters.ts';
import { batchRules } from './batch-plan.ts';
import { type DynamicBatching, PriorityLevels } from './dynamic-batching.ts';
import { type BatchableRequest, type DynamicEvent, DynamicPolicy } from './dynamic-policy.ts';
import { rowsOf } from './priority-queue.ts';
import type { SlotCounter } from './slot-counter.ts';

/** One request of a simulation. */
export interface SimulatedArrival {
  readonly atMicros: number;
  /** Rows; 1 by default. */
  readonly batchSize?: number;
  /** The model's default level by default. */
  readonly priority?: number | bigint;
  /** Its own limit of the time in the queue; none by default. */
  readonly timeoutMicroseconds?: number | bigint;
}

export interface SimulationOptions {
  /** In the order of time; a number is a request of one row at that time in microseconds. Those of one time come in one turn of the event loop. */
  readonly arrivals: Iterable<number | SimulatedArrival>;
  /** Microseconds that an instance takes for a batch of so many rows. */
  readonly serviceTime: (batchSize: number) => number;
  readonly config: DynamicBatching & { readonly maxBatchSize: number };
  /** Model instances; 1 by default. Each takes one batch at a time. */
  readonly instances?: number;
}

/** Microseconds; all 0 without values. Quantiles are values that occurred: the smallest that so many do not exceed. */
export interface Distribution {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

export interface SimulationResult {
  /** From arrival to answer, of the requests that ran. */
  readonly latency: Distribution;
  /** From arrival to dispatch, of the requests that ran. */
  readonly queue: Distribution;
  readonly batching: BatchingStatistics;
  /** Requests that did not run, by reason. */
  readonly rejected: { readonly queueFull: number; readonly timeout: number };
  /** Share of the time in which instances were busy, over all instances. */
  readonly utilization: number;
  /** From time 0 to the last answer. */
  readonly durationMicros: number;
}

/**
 * Plays the arrivals through the batcher and counts what comes of them.
 * @throws {RangeError} for a configuration that the scheduler refuses, and for arrivals that go back in time
 */
export function simulate(options: SimulationOptions): SimulationResult {
  const simulation = new Simulation(options);
  for (const arrival of options.arrivals)
    simulation.arrive(typeof arrival === 'number' ? { atMicros: arrival } : arrival);
  return simulation.finish();
}

interface SimulatedRequest extends BatchableRequest {
  readonly atMicros: number;
}

interface SimulatedInstance extends SlotCounter {
  /** Infinity while it is idle. */
  busyUntilMicros: number;
}

class Simulation {
  readonly #policy: DynamicPolicy<SimulatedRequest, SimulatedInstance>;
  readonly #instances: readonly SimulatedInstance[];
  readonly #serviceTime: (batchSize: number) => number;
  readonly #isOrdered: boolean;
  readonly #counters = new BatchCounters();
  readonly #latencies: number[] = [];
  readonly #waits: number[] = [];
  readonly #rejected = { queueFull: 0, timeout: 0 };
  #nowMicros = 0;
  #busyMicros = 0;
  #lastAnswerMicros = 0;

  constructor({ config, instances = 1, serviceTime }: SimulationOptions) {
    this.#instances = Array.from({ length: instances }, () => ({
      capacity: 1,
      load: 0,
      busyUntilMicros: Number.POSITIVE_INFINITY,
    }));
    this.#serviceTime = serviceTime;
    this.#isOrdered = config.preserveOrdering ?? false;
    const rules = batchRules<SimulatedRequest>(config, { maxBatchSize: config.maxBatchSize, canJoin: () => true });
    const levels = new PriorityLevels(config);
    this.#policy = new DynamicPolicy({ instances: this.#instances, rules, levels, maxQueueSize: 0 });
  }

  arrive({ atMicros, batchSize = 1, priority = 0, timeoutMicroseconds = 0 }: SimulatedArrival): void {
    if (!(atMicros >= this.#nowMicros)) {
      throw new RangeError(`arrivals must be in the order of time, got ${atMicros} after ${this.#nowMicros}`);
    }
    this.#runUntil(atMicros);
    const request = { atMicros, batchSize, priority, timeoutMicroseconds, isCancelled: false };
    this.#tell({ type: 'arrival', request, exclusive: false, nowMicros: atMicros });
  }

  finish(): SimulationResult {
    this.#runUntil(Number.POSITIVE_INFINITY);
    const durationMicros = this.#lastAnswerMicros;
    return {
      latency: distributionOf(this.#latencies),
      queue: distributionOf(this.#waits),
      batching: this.#counters.snapshot(),
      rejected: this.#rejected,
      utilization: durationMicros === 0 ? 0 : this.#busyMicros / (durationMicros * this.#instances.length),
      durationMicros,
    };
  }

  /** Lets happen what happens before this time: ends of batches first, then the end of the turn, then timers. What is due at the very time waits. */
  #runUntil(untilMicros: number): void {
    for (;;) {
      const instance = this.#nextFree();
      const turnEnd = this.#policy.wantsTurnEnd ? this.#nowMicros : Number.POSITIVE_INFINITY;
      const next = Math.min(instance.busyUntilMicros, turnEnd, this.#policy.wakeMicros);
      if (next >= untilMicros) break;
      this.#nowMicros = Math.max(this.#nowMicros, next);
      if (instance.busyUntilMicros === next) this.#free(instance);
      else this.#tell({ type: turnEnd === next ? 'turn-end' : 'timer', nowMicros: this.#nowMicros });
    }
    if (untilMicros !== Number.POSITIVE_INFINITY) this.#nowMicros = untilMicros;
  }

  #nextFree(): SimulatedInstance {
    return this.#instances.reduce((first, other) => (other.busyUntilMicros < first.busyUntilMicros ? other : first));
  }

  #free(instance: SimulatedInstance): void {
    instance.busyUntilMicros = Number.POSITIVE_INFINITY;
    this.#tell({ type: 'slots-free', instance, slots: 1, nowMicros: this.#nowMicros });
  }

  #tell(event: DynamicEvent<SimulatedRequest, SimulatedInstance>): void {
    for (const action of this.#policy.decide(event)) {
      if (action.type === 'dispatch') {
        const batchSize = action.batch.reduce((rows, request) => rows + rowsOf(request), 0);
        this.#counters.add(batchSize, action.reason);
        this.#run(action.batch, { instance: action.instance, serviceMicros: this.#serviceTime(batchSize) });
      } else if (action.type === 'reject') this.#rejected[action.reason === 'timeout' ? 'timeout' : 'queueFull']++;
    }
  }

  #run(
    batch: readonly SimulatedRequest[],
    { instance, serviceMicros }: { readonly instance: SimulatedInstance; readonly serviceMicros: number },
  ): void {
    const now = this.#nowMicros;
    const end = now + serviceMicros;
    instance.busyUntilMicros = end;
    this.#busyMicros += serviceMicros;
    // In order, an answer leaves no sooner than that of any batch sent before.
    const answered = this.#isOrdered ? Math.max(end, this.#lastAnswerMicros) : end;
    this.#lastAnswerMicros = Math.max(answered, this.#lastAnswerMicros);
    for (const { atMicros } of batch) {
      this.#latencies.push(answered - atMicros);
      this.#waits.push(now - atMicros);
    }
  }
}

function distributionOf(values: readonly number[]): Distribution {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  const sum = sorted.reduce((total, value) => total + value, 0);
  const mean = sorted.length === 0 ? 0 : sum / sorted.length;
  return { count: sorted.length, mean, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
