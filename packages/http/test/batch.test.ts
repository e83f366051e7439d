import { HoldingEngine } from '@nereid/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { ADD_SUB_JSON, responseOf, type Served, serve } from './fixture.ts';

let served: Served | undefined;
afterEach(() => served?.[Symbol.asyncDispose]());

/** Parameters of the answer to a request with these, that ran in a batch or in none. */
async function answerParameters(parameters: object, isBatched: boolean): Promise<unknown> {
  const holding = new HoldingEngine();
  served = await serve({ wrap: holding.wrap });
  const answer = fetch(`${served.url}/v2/models/addsub/infer`, {
    method: 'POST',
    body: JSON.stringify({ ...ADD_SUB_JSON, parameters }),
  });
  const request = await holding.next();
  if (isBatched) request.batch = { id: 9, batchSize: 5, requestCount: 2, reason: 'full', instance: 'addsub_0' };
  request.respond(responseOf(request));
  const { parameters: told } = (await (await answer).json()) as { readonly parameters?: unknown };
  return told;
}

describe('the batch of a request', () => {
  it('is told when the client asks', async () => {
    expect(await answerParameters({ nereid_batch: true }, true)).toEqual({
      nereid_batch_id: 9,
      nereid_batch_size: 5,
      nereid_batch_requests: 2,
      nereid_batch_reason: 'full',
      nereid_batch_instance: 'addsub_0',
    });
  });

  it.each([
    ['the client does not ask', {}, true],
    ['the client asks not to', { nereid_batch: false }, true],
    ['the request ran in none', { nereid_batch: true }, false],
  ])('is not told when %s', async (_, parameters, isBatched) => {
    expect(await answerParameters(parameters, isBatched)).toBeUndefined();
  });
});
