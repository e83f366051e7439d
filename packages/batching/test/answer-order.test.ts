import { InferenceServerError } from '@nereid/core';
import { RecordingResponder, requestFor } from '@nereid/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerOrder } from '../src/answer-order.ts';

const RESPONSE = { modelName: 'm', modelVersion: '1', outputs: [] };

describe('answers in order', () => {
  it('leave in the order of the requests, each once, however they come: whole, in parts, as errors', () => {
    const kind = fc.constantFrom('part' as const, 'last' as const, 'error' as const);
    const answers = fc.array(fc.tuple(fc.nat({ max: 9 }), kind), { maxLength: 60 });
    fc.assert(
      fc.property(answers, (given) => {
        const order = new AnswerOrder();
        const responder = new RecordingResponder();
        const requests = Array.from({ length: 10 }, (_, id) => requestFor({ id: String(id), responder }));
        for (const request of requests) order.add(request);
        const expected = requests.map((): string[] => []);
        const give = (which: number, what: 'part' | 'last' | 'error') => {
          const request = requests[which];
          if (request === undefined || request.isDone) return;
          expected[which]?.push(`${which} ${what}`);
          if (what === 'error') request.fail(new InferenceServerError('INTERNAL', 'no'));
          else request.respond(RESPONSE, what === 'last');
          const firstOpen = requests.findIndex(({ isDone }) => !isDone);
          expect(responder.answers).toHaveLength(expected.slice(0, firstOpen + 1 || 10).flat().length);
        };
        for (const [which, what] of given) give(which, what);
        for (const which of requests.keys()) give(which, 'last');
        const got = responder.answers.map(
          ({ request, error, final }) => `${request.id} ${error ? 'error' : final ? 'last' : 'part'}`,
        );
        expect(got).toEqual(expected.flat());
      }),
      { seed: 5, numRuns: 200 },
    );
  });

  it('hold when an answer leads to further ones', () => {
    const order = new AnswerOrder();
    const heard: string[] = [];
    const request = (id: string, then: () => void = () => {}) => {
      const respond = () => {
        heard.push(id);
        then();
      };
      const made = requestFor({ id, responder: { respond, fail: respond } });
      order.add(made);
      return made;
    };
    const a = request('a', () => request('d').respond(RESPONSE));
    const b = request('b', () => c.respond(RESPONSE));
    const c = request('c');
    b.respond(RESPONSE);
    a.respond(RESPONSE);
    expect(heard).toEqual(['a', 'b', 'c', 'd']);
  });
});
