import { HoldingEngine } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { addSubRequest, serve } from './fixture.ts';

const ASKING = { nereid_batch: { bool_param: true } };
const TOLD = {
  nereid_batch_id: { int64_param: '9' },
  nereid_batch_size: { int64_param: '5' },
  nereid_batch_requests: { int64_param: '2' },
  nereid_batch_reason: { string_param: 'full' },
  nereid_batch_instance: { string_param: 'addsub_0' },
};

/** Answers the next request, which ran in a batch. */
async function answerNext(holding: HoldingEngine): Promise<void> {
  const request = await holding.next();
  request.batch = { id: 9, batchSize: 5, requestCount: 2, reason: 'full', instance: 'addsub_0' };
  request.respond({ modelName: 'addsub', modelVersion: '1', outputs: [] });
}

describe('the batch of a request', () => {
  it.each([
    ['is told when the client asks', ASKING, TOLD],
    ['is not told otherwise', {}, {}],
  ])('%s', async (_, parameters, expected) => {
    const holding = new HoldingEngine();
    await using served = await serve({ wrap: holding.wrap });
    const call = served.unary('ModelInfer', addSubRequest({ parameters }));
    await answerNext(holding);
    expect((await call).messages[0].parameters ?? {}).toMatchObject(expected);
    const stream = served.stream([addSubRequest({ parameters })]);
    await answerNext(holding);
    const { triton_final_response: _final, ...told } = (await stream).messages[0].infer_response.parameters;
    expect(Object.keys(told)).toEqual(Object.keys(expected));
    expect(told).toMatchObject(expected);
  });

  it('is asked for with a boolean', async () => {
    await using served = await serve();
    const parameters = { nereid_batch: { int64_param: 1 } };
    const { code, details } = await served.unary('ModelInfer', addSubRequest({ parameters }));
    expect([code, details]).toEqual([
      'INVALID_ARGUMENT',
      "parameter 'nereid_batch' must be given as bool_param, found int64_param",
    ]);
  });
});
