import { type InferenceResponse, InferenceServerError } from '@nereid/core';
import { describe, expect, it } from 'vitest';
import { RecordingResponder, requestFor } from '../src/index.ts';

const RESPONSE: InferenceResponse = { modelName: 'm', modelVersion: '1', outputs: [] };
const FAILURE = new InferenceServerError('INTERNAL', 'broken');

function pair() {
  const responder = new RecordingResponder();
  return { responder, a: requestFor({ id: 'a', responder }), b: requestFor({ id: 'b', responder }) };
}

describe('RecordingResponder', () => {
  it('keeps the answers of all its requests in order, and of each one apart', () => {
    const { responder, a, b } = pair();
    a.respond(RESPONSE, false);
    b.fail(FAILURE);
    a.respond(undefined);
    expect(responder.answers).toEqual([
      { request: a, response: RESPONSE, error: undefined, final: false },
      { request: b, response: undefined, error: FAILURE, final: true },
      { request: a, response: undefined, error: undefined, final: true },
    ]);
    expect(responder.answersOf(a)).toHaveLength(2);
  });

  it('promises the final answer, to whoever asked before and after it came', async () => {
    const { responder, a, b } = pair();
    const before = [responder.finalOf(a), responder.finalOf(a)];
    a.respond(RESPONSE, false);
    b.respond(RESPONSE);
    a.respond(RESPONSE);
    const expected = { request: a, response: RESPONSE, error: undefined, final: true };
    expect(await Promise.all([...before, responder.finalOf(a)])).toEqual([expected, expected, expected]);
  });

  it('gives the response or throws what the request failed with', async () => {
    const { responder, a, b } = pair();
    const empty = requestFor({ id: 'c', responder });
    a.respond(RESPONSE);
    b.fail(FAILURE);
    empty.respond(undefined);
    expect(await responder.responseOf(a)).toBe(RESPONSE);
    await expect(responder.responseOf(b)).rejects.toBe(FAILURE);
    await expect(responder.responseOf(empty)).rejects.toThrow("request 'c' ended without a response");
  });
});
