/** What the scheduler adds to a request: each case makes a thousand requests that are answered at once. */
import type { InferenceRequest, ModelInstance } from '@nereid/core';
import { requestFor } from '@nereid/testing';
import { bench, describe } from 'vitest';
import { DefaultScheduler } from '../src/index.ts';

const COUNT = 1000;
const settled = Promise.resolve();
const responder = { respond() {}, fail() {} };

function instanceOf(capacity: number): ModelInstance {
  const execute = ([request]: readonly InferenceRequest[]) => {
    request?.respond(undefined);
    return settled;
  };
  return { name: 'empty', capacity, execute, close: async () => {} };
}

const requests = () => Array.from({ length: COUNT }, () => requestFor({ responder }));

describe('a thousand requests', () => {
  const instance = instanceOf(1);
  bench('straight to the instance', async () => {
    for (const request of requests()) await instance.execute([request]);
  });

  for (const [title, scheduler] of [
    ['one at a time', new DefaultScheduler({ instances: [instance] })],
    ['one at a time, with the fast lane watching', new DefaultScheduler({ instances: [instance], inline: {} })],
  ] as const) {
    bench(`through the scheduler, ${title}`, async () => {
      for (const request of requests()) {
        scheduler.enqueue(request);
        await settled;
      }
    });
  }

  const queueing = new DefaultScheduler({ instances: [instance] });
  bench('through the scheduler, all queued at once', async () => {
    for (const request of requests()) queueing.enqueue(request);
    while (queueing.executing > 0) await settled;
  });
});
