import { describe, expect, it } from 'vitest';
import { RequestDecoder } from '../src/index.ts';

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
