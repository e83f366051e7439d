import { describe, expect, it } from 'vitest';
import { RequestDecoder, withBatch } from '../src/index.ts';

const BATCH = { id: 7, batchSize: 4, requestCount: 3, reason: 'delay', instance: 'm_0' } as const;

const decode = (parameters: object) => {
  const body = Buffer.from(JSON.stringify({ parameters, inputs: [] }));
  const target = { modelName: 'm', modelVersion: '' };
  return new RequestDecoder().decode({ target, body, headerLength: undefined });
};

describe('nereid_batch', () => {
  it.each([
    [{}, false],
    [{ nereid_batch: false }, false],
    [{ nereid_batch: true }, true],
  ])('%j asks for the batch: %s, and never reaches the model', (parameters, tellsBatch) => {
    const decoded = decode(parameters);
    expect([decoded.tellsBatch, decoded.parameters.size]).toEqual([tellsBatch, 0]);
  });

  it('is a boolean', () => {
    expect(() => decode({ nereid_batch: 1 })).toThrow("parameter 'nereid_batch' of the request must be a boolean");
  });
});

describe('withBatch', () => {
  it('adds the batch to the parameters of the model', () => {
    const response = { modelName: 'm', modelVersion: '1', outputs: [] };
    const parameters = new Map<string, string | number>([
      ['mine', 'kept'],
      ['nereid_batch_id', 'gives way'],
    ]);
    const { format } = decode({});
    expect(JSON.parse(format.encode(withBatch({ ...response, parameters }, BATCH), '').header).parameters).toEqual({
      mine: 'kept',
      nereid_batch_id: 7,
      nereid_batch_size: 4,
      nereid_batch_requests: 3,
      nereid_batch_reason: 'delay',
      nereid_batch_instance: 'm_0',
    });
    expect(response).not.toHaveProperty('parameters');
  });
});
