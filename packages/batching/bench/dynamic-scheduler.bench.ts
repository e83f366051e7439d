/**
 * What the dynamic batcher adds to a request: each case makes a thousand requests and has them answered, in batches of eight, while so many others
 * wait in the queue. `an empty call each` makes the same requests and answers them without a scheduler.
 */
import type { InferenceRequest, ModelInstance } from '@nereid/core';
import { requestFor, tensor } from '@nereid/testing';
import { bench, describe } from 'vitest';
import { type DynamicBatching, DynamicScheduler } from '../src/index.ts';

const COUNT = 1000;
const ROWS = 8;
const responder = { respond() {}, fail() {} };
const inputs = [tensor({ name: 'x', shape: [1, 4], values: [1, 2, 3, 4] })];
const newRequest = (priority = 0) => requestFor({ responder, inputs, priority });

/** Answers at once and stays busy until it is released. */
class BusyInstance implements ModelInstance {
  readonly name = 'busy';
  readonly capacity = 1;
  answered = 0;
  #release: () => void = () => {};

  execute(batch: readonly InferenceRequest[]): Promise<void> {
    for (const request of batch) request.respond(undefined);
    this.answered += batch.length;
    return new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  release(): void {
    this.#release();
  }

  async close(): Promise<void> {}
}

function queueOf(waiting: number, dynamicBatching: DynamicBatching) {
  const instance = new BusyInstance();
  const scheduler = new DynamicScheduler({
    instances: [instance],
    maxBatchSize: ROWS,
    maxQueueSize: 0,
    dynamicBatching,
    afterTurn: queueMicrotask,
  });
  const levels = Number(dynamicBatching.priorityLevels ?? 0);
  for (let i = 0; i < waiting + ROWS; i++) scheduler.enqueue(newRequest(levels && (i % levels) + 1));
  return async () => {
    const target = instance.answered + COUNT;
    for (let i = 0; i < COUNT; i++) scheduler.enqueue(newRequest(levels && (i % levels) + 1));
    while (instance.answered < target) {
      instance.release();
      await undefined;
    }
  };
}

describe('a thousand requests', () => {
  bench('an empty call each', () => {
    for (let i = 0; i < COUNT; i++) newRequest().respond(undefined);
  });

  const timed: DynamicBatching = { defaultQueuePolicy: { defaultTimeoutMicroseconds: 60_000_000 } };
  const levelled: DynamicBatching = { priorityLevels: 10, defaultPriorityLevel: 5 };
  for (const [title, dynamicBatching] of [
    ['plain', {}],
    ['with timeouts', timed],
    ['with ten levels', levelled],
    ['in order', { preserveOrdering: true }],
  ] as const) {
    for (const waiting of [1, 1000, 100_000]) {
      bench(`${title}, ${waiting} queued`, queueOf(waiting, dynamicBatching));
    }
  }
});
