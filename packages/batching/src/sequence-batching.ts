/** How a sequence batcher is configured: the fields of Triton's `ModelSequenceBatching`, and what they mean resolved. */

/** What a control tensor tells the model. */
export type SequenceControlKind =
  | 'CONTROL_SEQUENCE_START'
  | 'CONTROL_SEQUENCE_READY'
  | 'CONTROL_SEQUENCE_END'
  | 'CONTROL_SEQUENCE_CORRID';

/** One meaning of a control tensor, and its values: one of the three pairs for START, END and READY, `dataType` for CORRID. */
export interface SequenceControl {
  readonly kind: SequenceControlKind;
  /** The values for false and true. */
  readonly int32FalseTrue?: readonly number[];
  /** The values for false and true. */
  readonly fp32FalseTrue?: readonly number[];
  /** The values for false and true. */
  readonly boolFalseTrue?: readonly boolean[];
  /** TYPE_UINT64, TYPE_INT64, TYPE_UINT32, TYPE_INT32 or TYPE_STRING. */
  readonly dataType?: string;
}

/** An input of the model that the scheduler fills. */
export interface SequenceControlInput {
  readonly name: string;
  /** Of several, the first counts. */
  readonly control: readonly SequenceControl[];
}

/** Each sequence keeps one slot of the batch, so that the model may tell sequences by their row. */
export interface DirectStrategy {
  /** How long a batch is held back while fewer slots than the utilization have a request; 0 by default. Without effect unless both are above 0. */
  readonly maxQueueDelayMicroseconds?: number | bigint;
  /** Fraction of the slots, 0 to 1; 0 by default. */
  readonly minimumSlotUtilization?: number;
}

/** Sequences share batches as requests of the dynamic batcher do; the model tells them by their correlation ID or their state. */
export interface OldestStrategy {
  /** Sequences per instance at a time; as many as rows of a batch by default. */
  readonly maxCandidateSequences?: number;
  /** As `DynamicBatching.preferredBatchSize`. */
  readonly preferredBatchSize?: readonly number[];
  /** As `DynamicBatching.maxQueueDelayMicroseconds`. */
  readonly maxQueueDelayMicroseconds?: number | bigint;
  /** Whether answers of one instance leave in the order in which its batches were formed. False by default. */
  readonly preserveOrdering?: boolean;
}

/** How requests of sequences are joined. A model configuration's `sequenceBatching` fits. */
export interface SequenceBatching {
  /** Taken when `oldest` is not set. */
  readonly direct?: DirectStrategy;
  readonly oldest?: OldestStrategy;
  /** A sequence that has had no request for so long loses its slot; 0, the default, means one second. */
  readonly maxSequenceIdleMicroseconds?: number | bigint;
  readonly controlInput?: readonly SequenceControlInput[];
  /** Tensors that one request of a sequence leaves for the next; only whether there are any counts here. */
  readonly state?: readonly unknown[];
  /** Whether a request may ask for further turns in place of its final answer. False by default. */
  readonly iterativeSequence?: boolean;
}

const DEFAULT_IDLE_MICROS = 1_000_000;

/** A configuration with its defaults filled in. */
export interface SequenceRules {
  /** Sequences that an instance has at a time. */
  readonly slotsPerInstance: number;
  readonly idleMicros: number;
  readonly isIterative: boolean;
  readonly isStateful: boolean;
}

/**
 * The rules that a configuration means, but for those of its strategy.
 * @param maxBatchSize  rows of a batch at most; 0 for a model without a batch dimension
 * @throws {RangeError} for numbers that make no sense
 */
export function sequenceRules(config: SequenceBatching, maxBatchSize: number): SequenceRules {
  const { oldest, state = [], iterativeSequence = false } = config;
  if (!Number.isInteger(maxBatchSize) || maxBatchSize < 0) {
    throw new RangeError(`maxBatchSize must be a whole number from 0 on, got ${maxBatchSize}`);
  }
  const candidates = oldest?.maxCandidateSequences ?? 0;
  if (!Number.isInteger(candidates)) {
    throw new RangeError(`maxCandidateSequences must be a whole number, got ${candidates}`);
  }
  const idleMicros = Number(config.maxSequenceIdleMicroseconds ?? 0);
  if (!(idleMicros >= 0)) throw new RangeError(`maxSequenceIdleMicroseconds must be 0 or more, got ${idleMicros}`);
  return {
    slotsPerInstance: candidates > 0 ? candidates : Math.max(1, maxBatchSize),
    idleMicros: idleMicros === 0 ? DEFAULT_IDLE_MICROS : idleMicros,
    isIterative: iterativeSequence,
    isStateful: state.length > 0,
  };
}

/** When a batch of the Direct strategy is held back. */
export interface DirectRules {
  /** 0 when it never is. */
  readonly maxDelayMicros: number;
  readonly minimumUtilization: number;
}

/** @throws {RangeError} for numbers that make no sense */
export function directRules({
  maxQueueDelayMicroseconds = 0,
  minimumSlotUtilization = 0,
}: DirectStrategy): DirectRules {
  const delay = Number(maxQueueDelayMicroseconds);
  if (!(delay >= 0)) throw new RangeError(`maxQueueDelayMicroseconds must be 0 or more, got ${delay}`);
  if (!(minimumSlotUtilization >= 0 && minimumSlotUtilization <= 1)) {
    throw new RangeError(`minimumSlotUtilization must be in 0 to 1, got ${minimumSlotUtilization}`);
  }
  return { maxDelayMicros: minimumSlotUtilization > 0 ? delay : 0, minimumUtilization: minimumSlotUtilization };
}
