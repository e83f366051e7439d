/** Every field of the sequence batcher's configuration that schedules has its effect; the states themselves are the backend's. */
import { describe, expect, it } from 'vitest';
import { expectEffect, type FieldRow, fieldsOf } from './scheduler-fields.ts';

const sequences = (fields: string) => `sequence_batching { ${fields} }\n`;
const direct = (fields: string) => sequences(`direct { ${fields} }`);
const oldest = (fields: string) => sequences(`oldest { ${fields} }`);
const control = (text: string, name = 'C') => sequences(`control_input { name: "${name}" control { ${text} } }`);

/** A request of the sequence that its id begins with: `1a`, `1b`, … */
const of = (id: string, flags: { readonly sequenceStart?: boolean; readonly sequenceEnd?: boolean } = {}) => ({
  id,
  correlationId: Number.parseInt(id, 10),
  ...flags,
});
const start = (id: string) => of(id, { sequenceStart: true });
const whole = (id: string) => of(id, { sequenceStart: true, sequenceEnd: true });

const TWO_TURNS = [start('7a'), of('7b', { sequenceEnd: true })];
const STATE = 'state { input_name: "s" output_name: "t" data_type: TYPE_FP32 dims: [ 1 ] }';
const PARTNER_LATER = [whole('1a'), 200, whole('2a')];

const ROWS: readonly FieldRow[] = [
  {
    field: 'ModelSequenceBatching.direct',
    set: direct(''),
    unset: oldest(''),
    steps: [whole('1a'), start('2a'), of('2b', { sequenceEnd: true })],
    seen: 'batches',
    whenSet: ['1a,2a', '-,2b'],
    whenUnset: ['1a,2a', '2b'],
  },
  {
    field: 'ModelSequenceBatching.oldest',
    set: oldest(''),
    unset: sequences(''),
    steps: [whole('1a'), start('2a'), of('2b', { sequenceEnd: true })],
    seen: 'batches',
    whenSet: ['1a,2a', '2b'],
    whenUnset: ['1a,2a', '-,2b'],
  },
  {
    field: 'ModelSequenceBatching.maxSequenceIdleMicroseconds',
    set: sequences('max_sequence_idle_microseconds: 2000'),
    unset: sequences(''),
    steps: [start('1a'), 5000, of('1b', { sequenceEnd: true })],
    seen: 'answers',
    whenSet: ['1a', '1b INVALID_ARG'],
    whenUnset: ['1a', '1b'],
  },
  {
    field: 'ModelSequenceBatching.controlInput',
    set: control('kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ]'),
    unset: sequences(''),
    steps: TWO_TURNS,
    seen: 'controls',
    whenSet: ['7a: C INT32 1', '7b: C INT32 0'],
    whenUnset: ['7a:', '7b:'],
  },
  {
    field: 'ModelSequenceBatching.state',
    set: sequences(STATE),
    unset: sequences(''),
    steps: TWO_TURNS,
    seen: 'states',
    whenSet: ['7a', '7b'],
    whenUnset: [],
  },
  {
    field: 'ModelSequenceBatching.iterativeSequence',
    set: sequences('iterative_sequence: true'),
    unset: sequences(''),
    steps: ['no correlation ID'],
    seen: 'answers',
    whenSet: ['no correlation ID'],
    whenUnset: ['no correlation ID INVALID_ARG'],
  },
  {
    field: 'StrategyDirect.maxQueueDelayMicroseconds',
    set: direct('minimum_slot_utilization: 1 max_queue_delay_microseconds: 300'),
    unset: direct('minimum_slot_utilization: 1'),
    steps: PARTNER_LATER,
    seen: 'batches',
    whenSet: ['1a,2a'],
    whenUnset: ['1a', '2a'],
  },
  {
    field: 'StrategyDirect.minimumSlotUtilization',
    set: direct('minimum_slot_utilization: 1 max_queue_delay_microseconds: 300'),
    unset: direct('minimum_slot_utilization: 0.25 max_queue_delay_microseconds: 300'),
    steps: PARTNER_LATER,
    seen: 'batches',
    whenSet: ['1a,2a'],
    whenUnset: ['1a', '2a'],
  },
  {
    field: 'StrategyOldest.maxCandidateSequences',
    set: oldest('max_candidate_sequences: 1'),
    unset: oldest(''),
    steps: [start('1a'), start('2a'), of('1b', { sequenceEnd: true }), of('2b', { sequenceEnd: true })],
    seen: 'batches',
    whenSet: ['1a', '1b,2a', '2b'],
    whenUnset: ['1a,2a', '1b,2b'],
  },
  {
    field: 'StrategyOldest.preferredBatchSize',
    set: oldest('preferred_batch_size: 2'),
    unset: oldest(''),
    steps: [whole('1a'), whole('2a'), whole('3a')],
    seen: 'batches',
    whenSet: ['1a,2a', '3a'],
    whenUnset: ['1a,2a,3a'],
  },
  {
    field: 'StrategyOldest.maxQueueDelayMicroseconds',
    set: oldest('max_queue_delay_microseconds: 300'),
    unset: oldest(''),
    steps: PARTNER_LATER,
    seen: 'batches',
    whenSet: ['1a,2a'],
    whenUnset: ['1a', '2a'],
  },
  {
    field: 'ControlInput.name',
    set: control('kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ]', 'BEGIN'),
    unset: control('kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ]', 'OTHER'),
    steps: TWO_TURNS,
    seen: 'controls',
    whenSet: ['7a: BEGIN INT32 1', '7b: BEGIN INT32 0'],
    whenUnset: ['7a: OTHER INT32 1', '7b: OTHER INT32 0'],
  },
  {
    field: 'ControlInput.control',
    set: control('kind: CONTROL_SEQUENCE_READY int32_false_true: [ 0, 1 ]'),
    unset: control('kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_INT32'),
    steps: TWO_TURNS,
    seen: 'controls',
    whenSet: ['7a: C INT32 1', '7b: C INT32 1'],
    whenUnset: ['7a: C INT32 7', '7b: C INT32 7'],
  },
  {
    field: 'Control.kind',
    set: control('kind: CONTROL_SEQUENCE_END int32_false_true: [ 0, 1 ]'),
    unset: control('kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ]'),
    steps: TWO_TURNS,
    seen: 'controls',
    whenSet: ['7a: C INT32 0', '7b: C INT32 1'],
    whenUnset: ['7a: C INT32 1', '7b: C INT32 0'],
  },
  {
    field: 'Control.int32FalseTrue',
    set: control('kind: CONTROL_SEQUENCE_START int32_false_true: [ 1, 0 ]'),
    unset: control('kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ]'),
    steps: TWO_TURNS,
    seen: 'controls',
    whenSet: ['7a: C INT32 0', '7b: C INT32 1'],
    whenUnset: ['7a: C INT32 1', '7b: C INT32 0'],
  },
  {
    field: 'Control.fp32FalseTrue',
    set: control('kind: CONTROL_SEQUENCE_START fp32_false_true: [ -0.5, 2.5 ]'),
    unset: control('kind: CONTROL_SEQUENCE_START fp32_false_true: [ 0, 1 ]'),
    steps: TWO_TURNS,
    seen: 'controls',
    whenSet: ['7a: C FP32 2.5', '7b: C FP32 -0.5'],
    whenUnset: ['7a: C FP32 1', '7b: C FP32 0'],
  },
  {
    field: 'Control.boolFalseTrue',
    set: control('kind: CONTROL_SEQUENCE_START bool_false_true: [ true, false ]'),
    unset: control('kind: CONTROL_SEQUENCE_START bool_false_true: [ false, true ]'),
    steps: TWO_TURNS,
    seen: 'controls',
    whenSet: ['7a: C BOOL 0', '7b: C BOOL 1'],
    whenUnset: ['7a: C BOOL 1', '7b: C BOOL 0'],
  },
  {
    field: 'Control.dataType',
    set: control('kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64'),
    unset: control('kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_INT32'),
    steps: TWO_TURNS,
    seen: 'controls',
    whenSet: ['7a: C UINT64 7', '7b: C UINT64 7'],
    whenUnset: ['7a: C INT32 7', '7b: C INT32 7'],
  },
];

/** Two batches of one instance must overlap to show it: packages/batching/test/sequence-scheduler.test.ts. */
const ELSEWHERE = ['StrategyOldest.preserveOrdering'];

describe('each field has its effect', () => {
  it.each(ROWS)('$field', expectEffect);

  it.each(['ModelSequenceBatching', 'StrategyDirect', 'StrategyOldest', 'ControlInput', 'Control'])(
    'no field of %s is left out above',
    (message) => {
      const path = message === 'ModelSequenceBatching' ? message : `ModelSequenceBatching.${message}`;
      const shown = [...ROWS.map(({ field }) => field), ...ELSEWHERE].filter((field) =>
        field.startsWith(`${message}.`),
      );
      expect(shown.toSorted()).toEqual(fieldsOf(path).toSorted());
    },
  );
});
