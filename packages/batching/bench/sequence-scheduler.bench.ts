/**
 * What the sequence batcher adds to a request: each case makes a thousand requests and has them answered, in batches of eight, while so many others wait in
 * the queue, or while so many other sequences are idle. `an empty call each` makes the same requests and answers them without a scheduler.
 */
import type { InferenceRequest, ModelInstance } from '@nereid/core';
import { requestFor, tensor } from '@nereid/testing';
import { bench, describe } from 'vitest';
import { type SequenceBatching, SequenceScheduler } from '../src/index.ts';

const COUNT = 1000;
const ROWS = 8;
const HOUR = 3_600_000_000;
const responder = { respond() {}, fail() {} };
const inputs = [tensor({ name: 'x', shape: [1, 4], values: [1, 2, 3, 4] })];
const flag = (name: string, kind: 'START' | 'END' | 'READY') => ({
  name,
  control: [{ kind: `CONTROL_SEQUENCE_${kind}` as const, fp32FalseTrue: [0, 1] }],
});
const controlInput = [
  flag('START', 'START'),
  flag('END', 'END'),
  flag('READY', 'READY'),
  { name: 'ID', control: [{ kind: 'CONTROL_SEQUENCE_CORRID' as const, dataType: 'TYPE_UINT64' }] },
];
const newRequest = (correlationId: number, sequenceStart = false, sequenceEnd = false) =>
  requestFor({ responder, inputs, correlationId, sequenceStart, sequenceEnd });

/** Answers at once and stays busy until it is released. */
class BusyInstance implements ModelInstance {
  readonly name = 'busy';
  readonly capacity = 1;
  answered = 0;
  #release: () => void = () => {};

  execute(batch: readonly InferenceRequest[]): Promise<void> {
    for (const request of batch) {
      request.respond(undefined);
      if (request.turn?.isPadding === false) this.answered++;
    }
    return new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  release(): void {
    this.#release();
  }

  async close(): Promise<void> {}
}

function open(strategy: SequenceBatching) {
  const instance = new BusyInstance();
  const scheduler = new SequenceScheduler({
    instances: [instance],
    maxBatchSize: ROWS,
    maxQueueSize: 0,
    sequenceBatching: { ...strategy, controlInput, state: [{}], maxSequenceIdleMicroseconds: HOUR },
    afterTurn: queueMicrotask,
  });
  const drain = async (target: number) => {
    while (instance.answered < target) {
      instance.release();
      await undefined;
    }
  };
  return { instance, scheduler, drain };
}

/** Sequences of one request each; so many wait for a slot. */
function shortOnes(waiting: number, strategy: SequenceBatching) {
  const { instance, scheduler, drain } = open(strategy);
  let id = 0;
  const send = () => scheduler.enqueue(newRequest(++id, true, true));
  for (let i = 0; i < waiting + ROWS; i++) send();
  return async () => {
    const target = instance.answered + COUNT;
    for (let i = 0; i < COUNT; i++) send();
    await drain(target);
  };
}

/** Eight sequences without an end; so many of their requests wait. */
function longOnes(waiting: number, strategy: SequenceBatching) {
  const { instance, scheduler, drain } = open(strategy);
  for (let id = 1; id <= ROWS; id++) scheduler.enqueue(newRequest(id, true));
  for (let i = 0; i < waiting; i++) scheduler.enqueue(newRequest((i % ROWS) + 1));
  return async () => {
    const target = instance.answered + COUNT;
    for (let i = 0; i < COUNT; i++) scheduler.enqueue(newRequest((i % ROWS) + 1));
    await drain(target);
  };
}

/** So many sequences are idle; some go on for one request, and are idle again. */
async function idleOnes(count: number) {
  const { instance, scheduler, drain } = open({ oldest: { maxCandidateSequences: count } });
  for (let id = 1; id <= count; id++) scheduler.enqueue(newRequest(id, true));
  await drain(count);
  let next = 0;
  return async () => {
    const target = instance.answered + COUNT;
    for (let i = 0; i < COUNT; i++) scheduler.enqueue(newRequest((next++ % count) + 1));
    await drain(target);
  };
}

const SIZES = [1, 1000, 100_000];
const idle = await Promise.all([1000, 100_000].map(async (count) => ({ count, run: await idleOnes(count) })));

describe('a thousand requests', () => {
  bench('an empty call each', () => {
    for (let i = 0; i < COUNT; i++) newRequest(i, true, true).respond(undefined);
  });

  for (const [title, strategy] of [
    ['direct', { direct: {} }],
    ['oldest', { oldest: {} }],
  ] as const) {
    for (const waiting of SIZES) bench(`${title}, sequences of one, ${waiting} queued`, shortOnes(waiting, strategy));
    for (const waiting of SIZES) bench(`${title}, eight sequences, ${waiting} queued`, longOnes(waiting, strategy));
  }
  for (const { count, run } of idle) bench(`oldest, ${count} idle sequences`, run);
});
