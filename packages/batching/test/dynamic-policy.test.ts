/**
 * The policy beside an oracle that does everything the slow way: it keeps one list of what waits and sorts it when a batch is sent. The test plays
 * the driver: turns, timers and the ends of batches come when the steps say so.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { batchRules } from '../src/batch-plan.ts';
import { type DynamicBatching, PriorityLevels } from '../src/dynamic-batching.ts';
import { type DynamicAction, type DynamicEvent, DynamicPolicy } from '../src/dynamic-policy.ts';
import type { Waiting } from '../src/priority-queue.ts';

interface Request {
  readonly id: number;
  readonly batchSize: number;
  readonly shape: number;
  readonly priority: number;
  readonly timeoutMicroseconds: number;
  isCancelled: boolean;
}

interface Instance {
  readonly capacity: number;
  load: number;
}

/** What the oracle knows of a request that waits. */
interface Row {
  readonly request: Request;
  readonly level: number;
  readonly arrivedMicros: number;
  readonly deadlineMicros: number;
  isDelayed: boolean;
}

type Action = DynamicAction<Request, Instance>;

interface Setup {
  readonly capacities: readonly number[];
  readonly maxBatchSize: number;
  readonly preferred: readonly number[];
  readonly delayMicros: number;
  /** By level; the first is also the default. */
  readonly policies: readonly {
    readonly timeoutAction: 'REJECT' | 'DELAY';
    readonly defaultTimeoutMicroseconds: number;
    readonly allowTimeoutOverride: boolean;
    readonly maxQueueSize: number;
  }[];
  readonly maxQueueSize: number;
}

class World {
  readonly policy: DynamicPolicy<Request, Instance>;
  readonly instances: readonly Instance[];
  readonly rows: Row[] = [];
  readonly running: Instance[] = [];
  readonly outcomes = new Map<Request, string>();
  readonly #setup: Setup;
  readonly #handles = new Map<Request, Waiting<Request>>();
  nowMicros = 0;
  isStopping = false;
  #ids = 0;

  constructor(setup: Setup) {
    this.#setup = setup;
    this.instances = setup.capacities.map((capacity) => ({ capacity, load: 0 }));
    const config: DynamicBatching = {
      preferredBatchSize: setup.preferred,
      maxQueueDelayMicroseconds: setup.delayMicros,
      priorityLevels: setup.policies.length,
      defaultPriorityLevel: 1,
      priorityQueuePolicy: new Map(setup.policies.map((policy, i) => [i + 1, policy])),
    };
    this.policy = new DynamicPolicy({
      instances: this.instances,
      rules: batchRules<Request>(config, {
        maxBatchSize: setup.maxBatchSize,
        canJoin: (first, next) => first.shape === next.shape,
      }),
      levels: new PriorityLevels(config),
      maxQueueSize: setup.maxQueueSize,
    });
  }

  arrive(init: Pick<Request, 'batchSize' | 'shape' | 'priority' | 'timeoutMicroseconds'>): void {
    const batchSize = Math.min(init.batchSize, this.#setup.maxBatchSize);
    const request = { ...init, batchSize, id: this.#ids++, isCancelled: false };
    this.#tell({ type: 'arrival', request, exclusive: false, nowMicros: this.nowMicros });
    if (this.isStopping) expect(this.outcomes.get(request)).toBe('stopping');
    else if (!this.outcomes.has(request)) expect(this.rows.map((row) => row.request)).toContain(request);
  }

  endTurn(): void {
    if (this.policy.wantsTurnEnd) this.#tell({ type: 'turn-end', nowMicros: this.nowMicros });
  }

  /** The time passes; timers fire at their moment, batches end at none. */
  advance(micros: number): void {
    const target = this.nowMicros + micros;
    this.endTurn();
    for (let wake = this.policy.wakeMicros; wake <= target; wake = this.policy.wakeMicros) {
      this.nowMicros = Math.max(wake, this.nowMicros);
      this.#tell({ type: 'timer', nowMicros: this.nowMicros });
      this.#expire((deadline) => deadline <= this.nowMicros);
      expect(this.policy.wakeMicros).toBeGreaterThan(this.nowMicros);
      const isLeft = (row: Row) => !row.isDelayed && row.deadlineMicros <= this.nowMicros;
      expect(this.rows.filter(isLeft)).toEqual([]);
    }
    this.nowMicros = target;
  }

  /** The time passes during which the event loop is busy: no timer fires. */
  block(micros: number): void {
    this.nowMicros += micros;
  }

  finish(which: number): void {
    const [instance] = this.running.splice(which % Math.max(1, this.running.length), 1);
    if (instance === undefined) return;
    this.#expire((deadline) => deadline < this.nowMicros);
    this.#tell({ type: 'slots-free', instance, slots: 1, nowMicros: this.nowMicros });
  }

  cancel(which: number): void {
    const row = this.rows[which % Math.max(1, this.rows.length)];
    const waiting = row && this.#handles.get(row.request);
    if (row === undefined || waiting === undefined) return;
    row.request.isCancelled = true;
    this.#tell({ type: 'cancel', waiting, nowMicros: this.nowMicros });
    expect(this.outcomes.get(row.request)).toBe('cancelled');
  }

  stop(): void {
    this.isStopping = true;
    this.#tell({ type: 'stop', nowMicros: this.nowMicros });
  }

  get hasIdle(): boolean {
    return this.instances.some(({ load }) => load === 0);
  }

  #tell(event: DynamicEvent<Request, Instance>): void {
    const actions = this.policy.decide(event);
    // Batches are handed out before bad news, also where those left the queue first.
    const isRejectedFirst = event.type === 'slots-free' || event.type === 'cancel';
    const isReject = ({ type }: Action) => type === 'reject';
    for (const action of isRejectedFirst ? actions.filter(isReject) : []) this.#check(action);
    for (const action of actions) if (!(isRejectedFirst && isReject(action))) this.#check(action);
    expect(this.policy.queued).toBe(this.rows.length);
    if (this.hasIdle && this.rows.length > 0 && !this.policy.wantsTurnEnd) this.#checkHeld();
    for (const { load, capacity } of this.instances) expect(load).toBeLessThanOrEqual(capacity);
  }

  #check(action: Action): void {
    if (action.type === 'wait') this.#checkEntry(action.waiting);
    else if (action.type === 'dispatch') this.#checkBatch(action);
    else this.#checkRejection(action);
  }

  #checkRejection(action: Action & { readonly type: 'reject' }): void {
    expect(this.outcomes.has(action.request)).toBe(false);
    this.outcomes.set(action.request, action.reason);
    const at = this.rows.findIndex(({ request }) => request === action.request);
    const [row] = at < 0 ? [] : this.rows.splice(at, 1);
    if (action.reason === 'timeout') {
      expect(row?.deadlineMicros).toBeLessThanOrEqual(this.nowMicros);
      expect(row && this.#policyOf(row.level).timeoutAction).toBe('REJECT');
    }
    if (action.reason === 'queue-full') expect(this.#room(this.#levelOf(action.request))).toBeLessThanOrEqual(0);
  }

  #checkEntry(waiting: Waiting<Request>): void {
    const { request } = waiting;
    const level = this.#levelOf(request);
    expect(this.#room(level)).toBeGreaterThan(0);
    const { allowTimeoutOverride, defaultTimeoutMicroseconds } = this.#policyOf(level);
    const byDefault = defaultTimeoutMicroseconds || Number.POSITIVE_INFINITY;
    const own = allowTimeoutOverride ? request.timeoutMicroseconds || byDefault : byDefault;
    const deadlineMicros = this.nowMicros + Math.min(own, byDefault);
    this.rows.push({ request, level, arrivedMicros: this.nowMicros, deadlineMicros, isDelayed: false });
    this.#handles.set(request, waiting);
  }

  /** A batch is the first of those that wait: no more than fit, all of one shape. */
  #checkBatch({ batch, instance }: Action & { readonly type: 'dispatch' }): void {
    const lateness = (row: Row) => (row.isDelayed ? row.deadlineMicros : -1);
    this.rows.sort((a, b) => a.level - b.level || lateness(a) - lateness(b) || a.request.id - b.request.id);
    expect(batch).toEqual(this.rows.splice(0, batch.length).map(({ request }) => request));
    expect(batch.length).toBeGreaterThan(0);
    expect(batch.reduce((sum, { batchSize }) => sum + batchSize, 0)).toBeLessThanOrEqual(this.#setup.maxBatchSize);
    expect(new Set(batch.map(({ shape }) => shape)).size).toBe(1);
    for (const request of batch) {
      expect(this.outcomes.has(request)).toBe(false);
      this.outcomes.set(request, 'run');
    }
    this.running.push(instance);
  }

  /** What waits before an idle instance is waited for: its delay has not ended, nobody times out, and a batch that is wanted is not reached. */
  #checkHeld(): void {
    const oldest = Math.min(...this.rows.map(({ arrivedMicros }) => arrivedMicros));
    const deadline = Math.min(
      ...this.rows.map((row) => (row.isDelayed ? Number.POSITIVE_INFINITY : row.deadlineMicros)),
    );
    const rows = this.rows.reduce((sum, { request }) => sum + request.batchSize, 0);
    expect(this.isStopping).toBe(false);
    expect(this.nowMicros).toBeLessThan(oldest + this.#setup.delayMicros);
    expect(this.nowMicros).toBeLessThan(deadline);
    expect(rows).toBeLessThan(Math.max(...this.#setup.preferred, 0) || this.#setup.maxBatchSize);
    expect(this.policy.wakeMicros).toBe(Math.min(oldest + this.#setup.delayMicros, deadline));
  }

  /** While no instance is idle, those whose time is up are delayed here; that the others were rejected is checked. */
  #expire(isUp: (deadlineMicros: number) => boolean): void {
    if (this.hasIdle) return;
    for (const row of this.rows) {
      if (isUp(row.deadlineMicros) && this.#policyOf(row.level).timeoutAction === 'DELAY') row.isDelayed = true;
    }
  }

  #levelOf({ priority }: Request): number {
    return priority >= 1 && priority <= this.#setup.policies.length ? priority : 1;
  }

  #policyOf(level: number): Setup['policies'][number] {
    const policy = this.#setup.policies[level - 1];
    if (policy === undefined) throw new Error(`no level ${level}`);
    return policy;
  }

  /** How many more requests the level takes. */
  #room(level: number): number {
    const own = this.#policyOf(level).maxQueueSize;
    if (own > 0) return own - this.rows.filter((row) => row.level === level).length;
    if (this.#setup.maxQueueSize === 0) return Number.POSITIVE_INFINITY;
    return this.#setup.maxQueueSize - this.rows.filter((row) => this.#policyOf(row.level).maxQueueSize === 0).length;
  }
}

const policies = fc.array(
  fc.record({
    timeoutAction: fc.constantFrom('REJECT' as const, 'DELAY' as const),
    defaultTimeoutMicroseconds: fc.constantFrom(0, 0, 50, 200),
    allowTimeoutOverride: fc.boolean(),
    maxQueueSize: fc.constantFrom(0, 0, 1, 3),
  }),
  { minLength: 1, maxLength: 3 },
);
const setups: fc.Arbitrary<Setup> = fc
  .record({
    capacities: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
    maxBatchSize: fc.constantFrom(1, 4, 8),
    delayMicros: fc.constantFrom(0, 100),
    policies,
    maxQueueSize: fc.constantFrom(0, 2, 6),
  })
  .chain((setup) =>
    fc
      .subarray(Array.from({ length: setup.maxBatchSize }, (_, i) => i + 1))
      .map((preferred) => ({ ...setup, preferred })),
  );
const arrival = fc.record({
  batchSize: fc.constantFrom(1, 1, 1, 2, 5),
  shape: fc.constantFrom(0, 0, 0, 1),
  priority: fc.integer({ min: 0, max: 4 }),
  timeoutMicroseconds: fc.constantFrom(0, 30, 120),
});
const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: arrival.map((init) => (world: World) => world.arrive(init)) },
    { weight: 3, arbitrary: fc.constant((world: World) => world.endTurn()) },
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 90 }).map((micros) => (world: World) => world.advance(micros)) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 90 }).map((micros) => (world: World) => world.block(micros)) },
    { weight: 4, arbitrary: fc.nat({ max: 9 }).map((which) => (world: World) => world.finish(which)) },
    { weight: 2, arbitrary: fc.nat({ max: 99 }).map((which) => (world: World) => world.cancel(which)) },
  ),
  { minLength: 5, maxLength: 120 },
);

it('whatever happens, batches are the first that wait, limits and deadlines are exact, and everyone gets one answer', () => {
  fc.assert(
    fc.property(setups, steps, (setup, moves) => {
      const world = new World(setup);
      for (const move of moves) move(world);
      world.stop();
      world.arrive({ batchSize: 1, shape: 0, priority: 1, timeoutMicroseconds: 0 });
      world.endTurn();
      while (world.running.length > 0) world.finish(0);
      expect([world.rows.length, world.policy.queued, world.policy.isIdle]).toEqual([0, 0, true]);
    }),
    { seed: 11, numRuns: 500 },
  );
});
