import { InferenceServerError, type ModelInstance } from '@nereid/core';
import { RecordingResponder, requestFor } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { DefaultScheduler } from '../src/index.ts';
import { type Fixture, type FixtureOptions, fixtureOf } from './fixture.ts';

/** A fixture whose turns of the event loop end by hand. */
async function laneFixture(options: FixtureOptions = {}) {
  const ends: (() => void)[] = [];
  const scheduler = { inline: { maxRunMicros: 100, afterTurn: (callback: () => void) => ends.push(callback) } };
  const made = await fixtureOf({ inline: true, serviceMicros: 20, scheduler, ...options });
  const endTurn = () => {
    for (const callback of ends.splice(0)) callback();
  };
  /** Sends lone requests, each in its own turn; how many of them ran inline. */
  const singles = async (count: number): Promise<number> => {
    const before = inlineRuns(made);
    for (let i = 0; i < count; i++) {
      made.send('single');
      await made.clock.elapse(500_000);
      endTurn();
    }
    return inlineRuns(made) - before;
  };
  return { ...made, endTurn, singles };
}

function inlineRuns({ backend }: Pick<Fixture, 'backend'>): number {
  return backend.batches.filter((batch) => batch.inline).length;
}

describe('running inline', () => {
  it('begins after sixteen lone requests to a short model, and answers before enqueue returns', async () => {
    const { singles, send } = await laneFixture();
    expect(await singles(20)).toBe(4);
    expect(send('now').isDone).toBe(true);
  });

  it.each([
    ['the option is not set', { scheduler: {} }],
    ['the instances cannot', { inline: false }],
    ['the model is slow', { serviceMicros: 200_000 }],
  ])('never happens when %s', async (_, options) => {
    const { singles } = await laneFixture(options);
    expect(await singles(50)).toBe(0);
  });

  it('measures runs itself when it is given no reports', async () => {
    expect(await (await laneFixture({ isObserved: false })).singles(20)).toBe(4);
    expect(await (await laneFixture({ isObserved: false, serviceMicros: 101 })).singles(50)).toBe(0);
  });

  it('ends with the second request of a turn, which goes to the instance', async () => {
    const { singles, send, backend, clock } = await laneFixture();
    await singles(17);
    send('first');
    send('second');
    send('third');
    expect(backend.batches.slice(-2).map(({ inline, requests }) => [inline, requests[0]?.id])).toEqual([
      [true, 'first'],
      [false, 'second'],
    ]);
    await clock.elapse(500);
    expect(await singles(1)).toBe(0);
  });

  it('does not happen while another request runs', async () => {
    const { singles, send, endTurn, clock } = await laneFixture();
    await singles(17);
    send('inline');
    send('runs');
    endTurn();
    expect(send('waits').isDone).toBe(false);
    await clock.elapse(500);
  });

  it('blocks the loop once when a run is misjudged, not twice', async () => {
    let serviceMicros = 20;
    const made = await laneFixture({ serviceMicros: () => serviceMicros });
    await made.singles(20);
    serviceMicros = 50_000;
    expect(await made.singles(100)).toBe(1);
  });

  it('holds every slot of the instance, so that a request sent from inside an answer waits for its end', async () => {
    const { singles, scheduler, clock, responder } = await laneFixture({ capacity: 2 });
    await singles(17);
    const nested = [requestFor({ responder }), requestFor({ responder })];
    const seen: number[] = [];
    const outer = requestFor({
      responder: {
        fail() {},
        respond: () => {
          for (const request of nested) scheduler.enqueue(request);
          seen.push(scheduler.executing, scheduler.queued);
        },
      },
    });
    scheduler.enqueue(outer);
    expect(seen).toEqual([1, 2]);
    expect([scheduler.executing, scheduler.queued]).toEqual([2, 0]);
    await clock.elapse(100);
    expect(nested.map((request) => request.isDone)).toEqual([true, true]);
  });

  it('passes failures on like any other run', async () => {
    const { singles, send, backend, answered } = await laneFixture();
    await singles(17);
    backend.failNextBatch(new InferenceServerError('INVALID_ARG', 'out of range'));
    send('bad');
    expect(answered().at(-1)).toBe('bad INVALID_ARG');
    expect(backend.batches.at(-1)?.inline).toBe(true);
  });
});

describe('an instance that breaks inline', () => {
  it.each([
    [
      'throws',
      'execution-broke',
      () => {
        throw new Error('segment gone');
      },
    ],
    ['leaves the request unanswered', 'unanswered', () => {}],
  ] as const)('and %s has the request failed with INTERNAL', async (_, reason, executeInline) => {
    const instance: ModelInstance = {
      name: 'm_0',
      capacity: 1,
      execute: async ([request]) => request?.respond(undefined),
      executeInline,
      close: async () => {},
    };
    const ends: (() => void)[] = [];
    const afterTurn = (callback: () => void) => ends.push(callback);
    const scheduler = new DefaultScheduler({ instances: [instance], inline: { maxRunMicros: 1e6, afterTurn } });
    const responder = new RecordingResponder();
    for (let i = 0; i < 17; i++) {
      const request = requestFor({ responder });
      scheduler.enqueue(request);
      await responder.finalOf(request);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(responder.answers.at(-1)?.error).toMatchObject({ code: 'INTERNAL', reason });
    await scheduler.stop();
  });
});
