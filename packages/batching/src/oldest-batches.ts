/**
 * The Oldest strategy at one instance: the next requests of all its sequences feed a dynamic batcher, each sequence one at a time.
 * Source: Triton core `src/sequence_batch_scheduler.cc`, `OldestSequenceBatch`.
 */
import type { BatchFormer, BatchFormerOptions } from './batch-former.ts';
import { type BatchRules, batchRules } from './batch-plan.ts';
import { PriorityLevels } from './dynamic-batching.ts';
import { type DynamicEvent, DynamicPolicy } from './dynamic-policy.ts';
import type { Turn } from './sequence.ts';
import type { OldestStrategy } from './sequence-batching.ts';
import type { SlotCounter } from './slot-counter.ts';

const PLAIN = new PriorityLevels({});

export class OldestBatches<R, D, I extends SlotCounter> implements BatchFormer<R, D> {
  readonly #policy: DynamicPolicy<Turn<R, D>, I>;
  readonly #options: BatchFormerOptions<R, D, I>;

  /** @throws {RangeError} for sizes and delays that make no sense */
  constructor(config: OldestStrategy & { readonly maxBatchSize: number }, options: BatchFormerOptions<R, D, I>) {
    const { canJoin, instance } = options;
    const rules: BatchRules<Turn<R, D>> = batchRules(config, {
      maxBatchSize: config.maxBatchSize,
      canJoin: (first, next) => canJoin(first.request, next.request),
    });
    this.#options = options;
    this.#policy = new DynamicPolicy({ instances: [instance], rules, levels: PLAIN, maxQueueSize: 0 });
  }

  get wantsTurnEnd(): boolean {
    return this.#policy.wantsTurnEnd;
  }

  get wakeMicros(): number {
    return this.#policy.wakeMicros;
  }

  offer(turn: Turn<R, D>, nowMicros: number): void {
    this.#tell({ type: 'arrival', request: turn, exclusive: false, nowMicros });
  }

  withdraw({ waiting }: Turn<R, D>, nowMicros: number): void {
    if (waiting !== undefined) this.#tell({ type: 'cancel', waiting, nowMicros });
  }

  batchOver(nowMicros: number): void {
    this.#tell({ type: 'slots-free', instance: this.#options.instance, slots: 1, nowMicros });
  }

  turnEnd(nowMicros: number): void {
    this.#tell({ type: 'turn-end', nowMicros });
  }

  wake(nowMicros: number): void {
    this.#tell({ type: 'timer', nowMicros });
  }

  /** What it rejects is what was withdrawn: its queue has neither limits nor timeouts, and it is never stopped. */
  #tell(event: DynamicEvent<Turn<R, D>, I>): void {
    for (const action of this.#policy.decide(event)) {
      if (action.type === 'wait') action.waiting.request.waiting = action.waiting;
      else if (action.type === 'dispatch') {
        const { batch: rows, instance, reason } = action;
        this.#options.send({ instance, rows, reason }, event.nowMicros);
      }
    }
  }
}
