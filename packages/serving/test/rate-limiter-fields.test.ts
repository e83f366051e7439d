/** Every field of an instance group's rate limiter has its effect. */
import { describe, expect, it } from 'vitest';
import { expectEffect, type FieldRow, fieldsOf } from './scheduler-fields.ts';

const group = (limiter: string, place = 'kind: KIND_CPU') => `{ count: 1 ${place} rate_limiter { ${limiter} } }`;
const groups = (...all: readonly string[]) => `instance_group [ ${all.join(', ')} ]\n`;
const both = (limiter: string) => groups(group(limiter), group(limiter));
const one = (name: string, more = '') => `resources { name: "${name}" count: 1 ${more} }`;
const onTwoDevices = (limiter: string) =>
  groups(group(limiter, 'kind: KIND_GPU gpus: 0'), group(limiter, 'kind: KIND_GPU gpus: 1'));

/** Names of the instances by group. */
const instances = (places: string) => [...places].map((place) => `good_${place}_0`);

const LIMITED = { rateLimit: {} };
/** Without a dynamic batcher each request is one execution of a millisecond. */
const TWO = ['a', 'b'];
const TOGETHER = ['a at 0', 'b at 0'];
const APART = ['a at 0', 'b at 1000'];

const ROWS: readonly FieldRow[] = [
  {
    field: 'ModelRateLimiter.resources',
    set: both(one('R')),
    unset: both(''),
    options: LIMITED,
    steps: TWO,
    seen: 'starts',
    whenSet: APART,
    whenUnset: TOGETHER,
  },
  {
    field: 'ModelRateLimiter.priority',
    set: groups(group(`${one('R')} priority: 1`), group(`${one('R')} priority: 2`)),
    unset: both(one('R')),
    options: LIMITED,
    steps: [...'abcdefghijkl'],
    seen: 'instances',
    whenSet: instances('010100100101'),
    whenUnset: instances('010101010101'),
  },
  {
    field: 'Resource.name',
    set: groups(group(one('R')), group(one('R'))),
    unset: groups(group(one('R')), group(one('S'))),
    options: LIMITED,
    steps: TWO,
    seen: 'starts',
    whenSet: APART,
    whenUnset: TOGETHER,
  },
  {
    field: 'Resource.count',
    set: both('resources { name: "R" count: 2 }'),
    unset: both('resources { name: "R" count: 1 }'),
    options: { rateLimit: { resources: [{ name: 'R', count: 3 }] } },
    steps: TWO,
    seen: 'starts',
    whenSet: APART,
    whenUnset: TOGETHER,
  },
  {
    field: 'Resource.global',
    set: onTwoDevices(one('R', 'global: true')),
    unset: onTwoDevices(one('R')),
    options: { ...LIMITED, gpus: [0, 1] },
    steps: TWO,
    seen: 'starts',
    whenSet: APART,
    whenUnset: TOGETHER,
  },
];

describe('each field has its effect', () => {
  it.each(ROWS)('$field', expectEffect);

  it.each(['ModelRateLimiter', 'Resource'])('no field of %s is left out above', (message) => {
    const path = message === 'Resource' ? 'ModelRateLimiter.Resource' : message;
    const shown = ROWS.map(({ field }) => field).filter((field) => field.startsWith(`${message}.`));
    expect(shown.toSorted()).toEqual(fieldsOf(path).toSorted());
  });
});
