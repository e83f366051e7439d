import { expect, it } from 'vitest';
import { withBatch } from '../src/index.ts';

it('withBatch adds the batch to the parameters of the model, in an answer of its own', () => {
  const response = { modelName: 'm', modelVersion: '1', outputs: [] };
  const parameters = new Map<string, string | number>([
    ['mine', 'kept'],
    ['nereid_batch_id', 'gives way'],
  ]);
  const batch = { id: 7, batchSize: 4, requestCount: 3, reason: 'delay', instance: 'm_0' } as const;
  const told = withBatch({ ...response, parameters }, batch);
  expect([...(told.parameters ?? [])]).toEqual([
    ['mine', 'kept'],
    ['nereid_batch_id', 7],
    ['nereid_batch_size', 4],
    ['nereid_batch_requests', 3],
    ['nereid_batch_reason', 'delay'],
    ['nereid_batch_instance', 'm_0'],
  ]);
  expect(told).toMatchObject(response);
  expect(parameters.size).toBe(2);
});
