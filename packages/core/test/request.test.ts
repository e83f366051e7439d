import { describe, expect, it, vi } from 'vitest';
import {
  InferenceRequest,
  type InferenceResponse,
  InferenceServerError,
  type RequestAnswer,
  RequestSignature,
} from '../src/index.ts';

const INIT = { modelName: 'mlp', modelVersion: '3', id: 'r1', inputs: [], requestedOutputs: [] };
const RESPONSE: InferenceResponse = { modelName: 'mlp', modelVersion: '3', outputs: [] };
const FAILURE = new InferenceServerError('INTERNAL', 'broken');

/** A request whose responder and observer write what they hear into one list. */
function recorded() {
  const heard: string[] = [];
  const request = new InferenceRequest(INIT, {
    respond: (_, response, final) => heard.push(`respond ${response ? 'outputs' : 'nothing'} ${final}`),
    fail: (_, error) => heard.push(`fail ${error.message}`),
  });
  request.observer = {
    responded: (_, response, final) => heard.push(`observed ${response ? 'outputs' : 'nothing'} ${final}`),
    failed: (_, error) => heard.push(`observed ${error.message}`),
  };
  return { heard, request };
}

describe('a new request', () => {
  it('takes what the front end gives and defaults for the rest', () => {
    const request = new InferenceRequest(INIT, { respond() {}, fail() {} });
    expect(request).toMatchObject({
      ...INIT,
      priority: 0,
      timeoutMicroseconds: 0,
      correlationId: 0,
      sequenceStart: false,
      sequenceEnd: false,
      signature: undefined,
      batchSize: 1,
      arrivedMicros: 0,
      dispatchedMicros: 0,
      isDone: false,
      isCancelled: false,
    });
    expect(request.parameters.size).toBe(0);
  });

  it('keeps 64-bit values exact', () => {
    const exact = { priority: 2n ** 63n, timeoutMicroseconds: 2n ** 60n, correlationId: 2n ** 64n - 1n };
    const signature = new RequestSignature();
    const request = new InferenceRequest({ ...INIT, ...exact, signature }, { respond() {}, fail() {} });
    expect(request).toMatchObject(exact);
    expect(request.signature).toBe(signature);
    expect(signature).toMatchObject({ acceptedBy: undefined, batchSize: 1 });
  });
});

describe('answers', () => {
  it('reach the responder first and the observer second', () => {
    const { heard, request } = recorded();
    request.respond(RESPONSE, false);
    expect(request.isDone).toBe(false);
    request.respond(undefined, true);
    expect(request.isDone).toBe(true);
    expect(heard).toEqual([
      'respond outputs false',
      'observed outputs false',
      'respond nothing true',
      'observed nothing true',
    ]);
  });

  it('are final unless said otherwise', () => {
    const { heard, request } = recorded();
    request.respond(RESPONSE);
    expect(request.isDone).toBe(true);
    expect(heard).toEqual(['respond outputs true', 'observed outputs true']);
  });

  it('may be an error, which is final', () => {
    const { heard, request } = recorded();
    request.fail(FAILURE);
    expect(request.isDone).toBe(true);
    expect(heard).toEqual(['fail broken', 'observed broken']);
  });

  it.each([
    ['a response', (request: InferenceRequest) => request.respond(RESPONSE)],
    ['an error', (request: InferenceRequest) => request.fail(FAILURE)],
  ])('end with the final one: %s after it is a defect', (_, again) => {
    for (const first of [() => FAILURE, () => undefined]) {
      const { heard, request } = recorded();
      const error = first();
      if (error === undefined) request.respond(RESPONSE);
      else request.fail(error);
      const before = heard.length;
      expect(() => again(request)).toThrow("request 'r1' for model 'mlp' was answered twice");
      expect(heard).toHaveLength(before);
    }
  });

  it('count as given before the listeners run, so that none can answer again', () => {
    const request: InferenceRequest = new InferenceRequest(INIT, { respond: () => request.fail(FAILURE), fail() {} });
    expect(() => request.respond(RESPONSE)).toThrow('answered twice');
  });

  it.each([
    ['respond', 'responded'],
    ['fail', 'failed'],
  ] as const)('are observed even when the responder throws in %s', (method, observed) => {
    const thrower = () => {
      throw new Error('socket gone');
    };
    const request = new InferenceRequest(INIT, { respond: thrower, fail: thrower });
    const observer = { responded: vi.fn(), failed: vi.fn() };
    request.observer = observer;
    expect(() => (method === 'respond' ? request.respond(RESPONSE) : request.fail(FAILURE))).toThrow('socket gone');
    expect(observer[observed]).toHaveBeenCalledOnce();
  });
});

describe('a gate', () => {
  it('gets every answer in place of the responder and the observer, and hands it on to both', () => {
    const { heard, request } = recorded();
    const held: RequestAnswer[] = [];
    request.gate = { take: (_, answer) => held.push(answer) };
    request.respond(RESPONSE, false);
    request.fail(FAILURE);
    expect(request.isDone).toBe(true);
    expect(heard).toEqual([]);
    for (const answer of held) request.deliver(answer);
    expect(heard).toEqual(['respond outputs false', 'observed outputs false', 'fail broken', 'observed broken']);
  });

  it('does not let a request be answered twice while its answer is held', () => {
    const { request } = recorded();
    request.gate = { take() {} };
    request.respond(RESPONSE);
    expect(() => request.fail(FAILURE)).toThrow('was answered twice');
  });
});

describe('wants', () => {
  it.each([
    [[], 'y', true],
    [['y'], 'y', true],
    [['y', 'z'], 'x', false],
  ])('of a request for %j says about %s: %s', (requestedOutputs, name, wanted) => {
    const request = new InferenceRequest({ ...INIT, requestedOutputs }, { respond() {}, fail() {} });
    expect(request.wants(name)).toBe(wanted);
  });
});

describe('cancel', () => {
  it('tells whoever holds the request, once', () => {
    const { request } = recorded();
    const onCancel = vi.fn();
    request.onCancel = onCancel;
    request.cancel();
    request.cancel();
    expect(request.isCancelled).toBe(true);
    expect(onCancel.mock.calls).toEqual([[request]]);
  });

  it('does nothing to a request that is done', () => {
    const { request } = recorded();
    const onCancel = vi.fn();
    request.onCancel = onCancel;
    request.respond(RESPONSE);
    request.cancel();
    expect(request.isCancelled).toBe(false);
    expect(onCancel).not.toHaveBeenCalled();
  });

  it('leaves a running request to complete', () => {
    const { heard, request } = recorded();
    request.cancel();
    request.respond(RESPONSE);
    expect(heard).toEqual(['respond outputs true', 'observed outputs true']);
  });
});
