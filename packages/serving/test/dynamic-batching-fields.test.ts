/** Every field of the dynamic batcher's configuration has its effect. */
import { describe, expect, it } from 'vitest';
import { expectEffect, type FieldRow, fieldsOf, play } from './scheduler-fields.ts';

const batching = (fields: string) => `dynamic_batching { ${fields} }\n`;
const policy = (fields: string) => batching(`default_queue_policy { ${fields} }`);
const at = (id: string, priority: number) => ({ id, priority });

const ROWS: readonly FieldRow[] = [
  {
    field: 'ModelDynamicBatching.preferredBatchSize',
    set: batching('preferred_batch_size: 2'),
    unset: batching(''),
    steps: ['a', 'b', 'c'],
    seen: 'batches',
    whenSet: ['a,b', 'c'],
    whenUnset: ['a,b,c'],
  },
  {
    field: 'ModelDynamicBatching.maxQueueDelayMicroseconds',
    set: batching('max_queue_delay_microseconds: 300'),
    unset: batching(''),
    steps: ['a', 200, 'b', 200, 'c'],
    seen: 'batches',
    whenSet: ['a,b', 'c'],
    whenUnset: ['a', 'b,c'],
  },
  {
    field: 'ModelDynamicBatching.preserveOrdering',
    set: `${batching('preserve_ordering: true')}instance_group { count: 2 }\n`,
    unset: `${batching('')}instance_group { count: 2 }\n`,
    steps: ['slow', 0, 'quick'],
    seen: 'answers',
    whenSet: ['slow', 'quick'],
    whenUnset: ['quick', 'slow'],
  },
  {
    field: 'ModelDynamicBatching.priorityLevels',
    set: batching('priority_levels: 2 default_priority_level: 2'),
    unset: batching(''),
    steps: ['runs', 0, at('low', 2), at('high', 1)],
    seen: 'batches',
    whenSet: ['runs', 'high,low'],
    whenUnset: ['runs', 'low,high'],
  },
  {
    field: 'ModelDynamicBatching.defaultPriorityLevel',
    set: batching('priority_levels: 2 default_priority_level: 1'),
    unset: batching('priority_levels: 2 default_priority_level: 2'),
    steps: ['runs', 0, at('second', 2), 'plain'],
    seen: 'batches',
    whenSet: ['runs', 'plain,second'],
    whenUnset: ['runs', 'second,plain'],
  },
  {
    field: 'ModelDynamicBatching.defaultQueuePolicy',
    set: policy('max_queue_size: 1'),
    unset: batching(''),
    steps: ['runs', 0, 'a', 'b'],
    seen: 'answers',
    whenSet: ['b UNAVAILABLE', 'runs', 'a'],
    whenUnset: ['runs', 'a', 'b'],
  },
  {
    field: 'ModelDynamicBatching.priorityQueuePolicy',
    set: batching(
      'priority_levels: 2 default_priority_level: 2 priority_queue_policy { key: 1 value { max_queue_size: 1 } }',
    ),
    unset: batching('priority_levels: 2 default_priority_level: 2'),
    steps: ['runs', 0, at('a', 2), at('b', 2), at('c', 1), at('d', 1)],
    seen: 'answers',
    whenSet: ['d UNAVAILABLE', 'runs', 'c', 'a', 'b'],
    whenUnset: ['runs', 'c', 'd', 'a', 'b'],
  },
  {
    field: 'ModelQueuePolicy.timeoutAction',
    set: policy('timeout_action: DELAY default_timeout_microseconds: 100'),
    unset: policy('default_timeout_microseconds: 100'),
    steps: ['runs', 0, 'late', 950, 'fresh'],
    seen: 'answers',
    whenSet: ['runs', 'fresh', 'late'],
    whenUnset: ['late UNAVAILABLE', 'runs', 'fresh'],
  },
  {
    field: 'ModelQueuePolicy.defaultTimeoutMicroseconds',
    set: policy('default_timeout_microseconds: 100'),
    unset: policy(''),
    steps: ['runs', 0, 'late'],
    seen: 'answers',
    whenSet: ['late UNAVAILABLE', 'runs'],
    whenUnset: ['runs', 'late'],
  },
  {
    field: 'ModelQueuePolicy.allowTimeoutOverride',
    set: policy('default_timeout_microseconds: 5000 allow_timeout_override: true'),
    unset: policy('default_timeout_microseconds: 5000'),
    steps: ['runs', 0, { id: 'hasty', timeoutMicroseconds: 100 }],
    seen: 'answers',
    whenSet: ['hasty UNAVAILABLE', 'runs'],
    whenUnset: ['runs', 'hasty'],
  },
  {
    field: 'ModelQueuePolicy.maxQueueSize',
    set: policy('max_queue_size: 2'),
    unset: policy('max_queue_size: 1'),
    steps: ['runs', 0, 'a', 'b', 'c'],
    seen: 'answers',
    whenSet: ['c UNAVAILABLE', 'runs', 'a', 'b'],
    whenUnset: ['b UNAVAILABLE', 'c UNAVAILABLE', 'runs', 'a'],
  },
];

describe('each field has its effect', () => {
  it.each(ROWS)('$field', expectEffect);

  it.each(['ModelDynamicBatching', 'ModelQueuePolicy'])('no field of %s is left out above', (message) => {
    const shown = ROWS.map(({ field }) => field).filter((field) => field.startsWith(`${message}.`));
    expect(shown.toSorted()).toEqual(fieldsOf(message).toSorted());
  });
});

it('a configuration that uses every field but preserve_ordering, which levels exclude, serves', async () => {
  const config = batching(`
    preferred_batch_size: [ 2, 4 ]
    max_queue_delay_microseconds: 300
    priority_levels: 3
    default_priority_level: 2
    default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 5000 allow_timeout_override: true max_queue_size: 10 }
    priority_queue_policy { key: 1 value { timeout_action: REJECT default_timeout_microseconds: 2000 max_queue_size: 3 } }
  `);
  const { batches, answers } = await play(config, ['a', at('b', 1), at('c', 3)]);
  expect([batches, answers]).toEqual([
    ['b,a', 'c'],
    ['b', 'a', 'c'],
  ]);
});
