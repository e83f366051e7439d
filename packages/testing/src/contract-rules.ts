/** The promises of the contract, one by one. They use vitest's `expect`, but know no suite. */
import type { InferenceRequest } from '@nereid/core';
import { assert, expect } from 'vitest';
import { valuesOf } from './builders.ts';
import type { ContractNames, OpenModel } from './open-model.ts';

/**
 * The two models of the contract.
 * `addsub`: FP32, batching, at least 8 rows of two values: `a`, `b` → `sum` = a + b, `diff` = a − b; it fails when a and b differ in width.
 * `identity`: FP32, batching, `x` → `y`, rows of two values.
 */
export type ContractModelName = 'addsub' | 'identity';

/** What a rule needs of the implementation under test. */
export interface ContractSubject {
  readonly names: ContractNames;
  /** Loads a model and opens instances, 1 by default; whoever made the subject closes what is left open. */
  open(model: ContractModelName, instances?: number): Promise<OpenModel>;
}

interface Rule {
  readonly title: string;
  /** Rejects when the implementation breaks the rule. */
  check(subject: ContractSubject): Promise<void>;
}

const WITHOUT_INLINE =
  "instances have no executeInline; if that is meant, skip 'inline' and 'inline-failure' with the reason";

export const RULES = {
  'answers-once': {
    title: 'answers every request of a batch exactly once, finally',
    check: async ({ open, names }) => {
      const model = await open('addsub');
      const batch = [1, 2, 3].map((rows) => model.addSub({ rows, first: rows * 10 }));
      await model.run(batch);
      expect(model.responder.answers.map((answer) => answer.final)).toEqual([true, true, true]);
      expect(new Set(model.responder.answers.map((answer) => answer.request))).toEqual(new Set(batch));
      const last = (await model.outputs(at(batch, 2))).get(names.sum);
      expect(last).toMatchObject({ datatype: 'FP32', shape: [3, 2] });
      expect(last && valuesOf(last)).toEqual([30.5, 30.5, 31.5, 31.5, 32.5, 32.5]);
    },
  },
  'answers-before-settling': {
    title: 'has answered a batch when its execute resolves',
    check: async ({ open }) => {
      const model = await open('addsub');
      const batch = [model.addSub({ rows: 1, first: 1 }), model.addSub({ rows: 2, first: 2 })];
      await model.instance().execute(batch);
      expect(batch.map((request) => request.isDone)).toEqual([true, true]);
    },
  },
  coalesced: {
    title: 'gives coalesced requests the bytes that each gets alone',
    check: async ({ open }) => {
      const model = await open('addsub');
      const sizes = [1, 3, 2, 1];
      const make = () => sizes.map((rows, i) => model.addSub({ rows, first: 100 * i }));
      const together = make();
      await model.run(together);
      for (const [i, alone] of make().entries()) {
        await model.run([alone]);
        expect(await model.outputs(at(together, i))).toEqual(await model.outputs(alone));
      }
    },
  },
  wanted: {
    title: 'returns the outputs that a request wants and no others',
    check: async ({ open, names }) => {
      const model = await open('addsub');
      const wishes = [[names.diff], [], [names.sum], [names.diff, names.sum]];
      const batch = wishes.map((outputs, i) => model.addSub({ rows: 1, first: i, outputs }));
      await model.run(batch);
      for (const [i, wish] of wishes.entries()) {
        const got = await model.outputs(at(batch, i));
        expect(new Set(got.keys())).toEqual(new Set(wish.length === 0 ? [names.sum, names.diff] : wish));
        const diff = got.get(names.diff);
        if (diff !== undefined) expect(valuesOf(diff)).toEqual([i - 0.5, i - 0.5]);
      }
    },
  },
  unaligned: {
    title: 'takes inputs at any byte offset',
    check: async ({ open }) => {
      const model = await open('addsub');
      for (const offset of [1, 2, 3, 4, 61]) {
        const aligned = model.addSub({ rows: 2, first: offset });
        const inputs = aligned.inputs.map((input) => ({ ...input, data: shifted(input.data, offset) }));
        const unaligned = model.request({ inputs, batchSize: 2 });
        await model.run([aligned]);
        await model.run([unaligned]);
        expect(await model.outputs(unaligned)).toEqual(await model.outputs(aligned));
      }
    },
  },
  'inputs-untouched': {
    title: 'leaves the bytes of inputs as they were',
    check: async ({ open }) => {
      const model = await open('addsub');
      const batch = [model.addSub({ rows: 2, first: 1 }), model.addSub({ rows: 2, first: 5 })];
      const before = batch.map((request) => request.inputs.map((input) => [...input.data]));
      await model.run([at(batch, 0)]);
      await model.run([at(batch, 1), model.addSub({ rows: 1, first: 9 })]);
      expect(batch.map((request) => request.inputs.map((input) => [...input.data]))).toEqual(before);
    },
  },
  identity: {
    title: 'carries bits through unchanged, NaN payloads and signed zeros included',
    check: async ({ open, names }) => {
      const model = await open('identity');
      const data = new Uint8Array(Uint32Array.of(0x7fc0_0001, 0x8000_0000, 0x0000_0001, 0xff80_0000).buffer);
      const request = model.request({
        inputs: [{ name: names.x, datatype: 'FP32', shape: [2, 2], data }],
        batchSize: 2,
      });
      await model.run([request]);
      expect(await model.outputs(request)).toEqual(
        new Map([[names.y, { name: names.y, datatype: 'FP32', shape: [2, 2], data }]]),
      );
    },
  },
  reports: {
    title: 'reports an execution once, with its requests and rows, before it answers them',
    check: async ({ open }) => {
      const model = await open('addsub');
      const batch = [model.addSub({ rows: 1, first: 1 }), model.addSub({ rows: 3, first: 2 })];
      const reportsAtAnswer: number[] = [];
      for (const request of batch) {
        const note = () => reportsAtAnswer.push(model.reports.length);
        request.observer = { responded: note, failed: note };
      }
      await model.run(batch);
      expect(reportsAtAnswer).toEqual([1, 1]);
      expect(model.reports).toHaveLength(1);
      const [report] = model.reports;
      expect(report?.requests).toEqual(batch);
      expect(report?.batchSize).toBe(4);
      for (const key of ['computeInputNs', 'computeInferNs', 'computeOutputNs'] as const) {
        expect(report?.[key]).toBeGreaterThanOrEqual(0);
      }
    },
  },
  failure: {
    title: 'fails every request of a batch that cannot run, and runs the next one',
    check: async ({ open }) => {
      const model = await open('addsub');
      const bad = [model.failing(), model.failing()];
      const good = model.addSub({ rows: 1, first: 1 });
      await model.run(bad);
      for (const request of bad) {
        const answers = model.responder.answersOf(request);
        expect(answers).toHaveLength(1);
        expect(answers[0]?.error?.message).toMatch(/./);
      }
      expect(model.reports).toHaveLength(0);
      await model.run([good]);
      expect((await model.outputs(good)).size).toBe(2);
    },
  },
  capacity: {
    title: 'takes as many batches at a time as its capacity says, and answers them in order',
    check: async ({ open }) => {
      const model = await open('addsub');
      const instance = model.instance();
      expect(Number.isInteger(instance.capacity) && instance.capacity >= 1).toBe(true);
      for (let round = 0; round < 3; round++) {
        const requests = Array.from({ length: instance.capacity }, (_, i) => model.addSub({ rows: 1, first: i }));
        const before = model.responder.answers.length;
        await Promise.all(requests.map((request) => instance.execute([request])));
        await model.settled(requests);
        expect(model.responder.answers.slice(before).map((answer) => answer.request)).toEqual(requests);
      }
    },
  },
  instances: {
    title: 'runs instances of one model side by side',
    check: async ({ open, names }) => {
      const model = await open('addsub', 2);
      const first = Array.from({ length: 8 }, (_, i) => model.addSub({ rows: 1, first: i }));
      const second = Array.from({ length: 8 }, (_, i) => model.addSub({ rows: 1, first: 100 + i }));
      await Promise.all(
        [first, second].map((requests, index) => oneByOne(requests, (batch) => model.run(batch, index))),
      );
      for (const [i, request] of [...first, ...second].entries()) {
        const sum = (await model.outputs(request)).get(names.sum);
        expect(sum && valuesOf(sum)[0]).toBe(i < 8 ? i + 0.5 : 100 + i - 8 + 0.5);
      }
    },
  },
  inline: {
    title: 'gives the same result inline, before the call returns',
    check: async ({ open }) => {
      const model = await open('addsub');
      const instance = model.instance();
      assert(instance.executeInline !== undefined, WITHOUT_INLINE);
      const usual = model.addSub({ rows: 2, first: 4 });
      const inline = model.addSub({ rows: 2, first: 4 });
      await model.run([usual]);
      instance.executeInline([inline]);
      expect(inline.isDone).toBe(true);
      expect(await model.outputs(inline)).toEqual(await model.outputs(usual));
      expect(model.reports).toHaveLength(2);
    },
  },
  'inline-failure': {
    title: 'fails requests inline without throwing',
    check: async ({ open }) => {
      const model = await open('addsub');
      const instance = model.instance();
      assert(instance.executeInline !== undefined, WITHOUT_INLINE);
      const bad = model.failing();
      instance.executeInline([bad]);
      expect(model.responder.answersOf(bad)[0]?.error).toBeDefined();
      const good = model.addSub({ rows: 1, first: 1 });
      instance.executeInline([good]);
      expect((await model.outputs(good)).size).toBe(2);
    },
  },
  release: {
    title: 'lets a response be released once, and others live on',
    check: async ({ open, names }) => {
      const model = await open('addsub');
      const batch = [model.addSub({ rows: 1, first: 1 }), model.addSub({ rows: 1, first: 2 })];
      await model.run(batch);
      (await model.responder.responseOf(at(batch, 0))).release?.();
      const sum = (await model.outputs(at(batch, 1))).get(names.sum);
      expect(sum && valuesOf(sum)).toEqual([2.5, 2.5]);
      (await model.responder.responseOf(at(batch, 1))).release?.();
    },
  },
  close: {
    title: 'waits for work in flight when an instance closes',
    check: async ({ open }) => {
      const model = await open('addsub');
      const requests = Array.from({ length: model.instance().capacity }, (_, i) => model.addSub({ rows: 1, first: i }));
      const running = requests.map((request) => model.instance().execute([request]));
      await model.close();
      expect(requests.map((request) => request.isDone)).toEqual(requests.map(() => true));
      await Promise.all(running);
      for (const request of requests) expect((await model.outputs(request)).size).toBe(2);
    },
  },
  reload: {
    title: 'loads again what was unloaded',
    check: async ({ open }) => {
      for (let round = 0; round < 3; round++) {
        const model = await open('addsub');
        const request = model.addSub({ rows: 1, first: round });
        model.validate(request);
        await model.run([request]);
        expect((await model.outputs(request)).size).toBe(2);
        await model.close();
      }
    },
  },
} as const satisfies Record<string, Rule>;

/** A promise of the contract. */
export type ContractRule = keyof typeof RULES;

async function oneByOne(
  requests: readonly InferenceRequest[],
  run: (batch: readonly InferenceRequest[]) => Promise<void>,
): Promise<void> {
  for (const request of requests) await run([request]);
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError(`no item ${index} among ${items.length}`);
  return item;
}

/** The same bytes, `offset` bytes into a buffer of their own. */
function shifted(data: Uint8Array, offset: number): Uint8Array {
  const buffer = new Uint8Array(data.byteLength + offset);
  buffer.set(data, offset);
  return buffer.subarray(offset);
}
