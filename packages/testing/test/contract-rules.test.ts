/** Every rule of the contract can fail: each is shown an instance that breaks it. */
import {
  type InferenceRequest,
  type InferenceResponse,
  InferenceServerError,
  type InstanceContext,
  type ModelInstance,
} from '@nereid/core';
import { describe, expect, it } from 'vitest';
import { contractSubject } from '../src/contract.ts';
import { type ContractModelName, type ContractRule, RULES } from '../src/contract-rules.ts';
import { addSub, FakeBackend, identity } from '../src/index.ts';

/** What spoils an answer on its way to the request's responder. */
type Spoiler = (
  response: InferenceResponse,
  request: InferenceRequest,
  batch: readonly InferenceRequest[],
) => InferenceResponse;

/** The instance, but requests are answered with what `spoil` makes of the answer. */
function spoilt(spoil: Spoiler): (instance: ModelInstance) => ModelInstance {
  return (instance) => ({
    name: instance.name,
    capacity: instance.capacity,
    close: () => instance.close(),
    execute: (batch) => {
      for (const request of batch) {
        const respond = request.respond.bind(request);
        request.respond = (response, final) => respond(response && spoil(response, request, batch), final);
      }
      return instance.execute(batch);
    },
  });
}

const changed =
  (change: Partial<ModelInstance>) =>
  (instance: ModelInstance): ModelInstance => ({
    name: instance.name,
    capacity: instance.capacity,
    execute: (batch) => instance.execute(batch),
    close: () => instance.close(),
    ...change,
  });

const withInline = (executeInline: (batch: readonly InferenceRequest[]) => void) => (instance: ModelInstance) =>
  changed({ executeInline })(instance);

/** Releasing a response wipes the outputs of the whole batch. */
function sharingMemory(instance: ModelInstance): ModelInstance {
  const memory = new Map<readonly InferenceRequest[], Uint8Array[]>();
  return spoilt((response, _, batch) => {
    const shared = memory.get(batch) ?? [];
    memory.set(batch, shared);
    shared.push(...response.outputs.map(({ data }) => data));
    const release = () => {
      for (const data of shared) data.fill(0);
    };
    return { ...response, release };
  })(instance);
}

function onceOnly(): (instance: ModelInstance) => ModelInstance {
  let made = 0;
  return (instance) => (made++ === 0 ? instance : changed({ execute: () => Promise.reject(failure) })(instance));
}

const failure = new InferenceServerError('INTERNAL', '');
const flipped = (response: InferenceResponse) => ({
  ...response,
  outputs: response.outputs.map((output) => ({ ...output, data: output.data.map((byte) => byte ^ 0x80) })),
});

const BREACHES: readonly (readonly [ContractRule, string, (instance: ModelInstance) => ModelInstance])[] = [
  ['answers-once', 'answers with nothing', spoilt((response) => ({ ...response, outputs: [] }))],
  ['answers-once', 'rejects', changed({ execute: () => Promise.reject(new Error('broken')) })],
  ['answers-before-settling', 'settles without an answer', changed({ execute: async () => {} })],
  [
    'coalesced',
    'ignores where rows of a batch begin',
    spoilt((response, _, batch) => (batch.length > 1 ? flipped(response) : response)),
  ],
  [
    'wanted',
    'returns one output always',
    spoilt((response) => ({ ...response, outputs: response.outputs.slice(0, 1) })),
  ],
  [
    'unaligned',
    'misreads unaligned inputs',
    spoilt((response, { inputs }) =>
      inputs.some(({ data }) => data.byteOffset % 4 !== 0) ? flipped(response) : response,
    ),
  ],
  [
    'inputs-untouched',
    'writes into inputs',
    spoilt((response, { inputs }) => {
      for (const { data } of inputs) data[0] = 77;
      return response;
    }),
  ],
  ['identity', 'loses the sign', spoilt(flipped)],
  [
    'failure',
    'answers what cannot run',
    changed({
      execute: async (batch) => {
        for (const request of batch) request.respond(undefined);
      },
    }),
  ],
  [
    'failure',
    'fails without a word',
    changed({
      execute: async (batch) => {
        for (const request of batch) request.fail(failure);
      },
    }),
  ],
  ['capacity', 'has no capacity', changed({ capacity: 0 })],
  ['instances', 'mixes up answers', spoilt(flipped)],
  ['inline', 'has no inline path', changed({})],
  ['inline', 'returns before it answered', withInline(() => {})],
  ['inline-failure', 'has no inline path', changed({})],
  [
    'inline-failure',
    'throws',
    withInline(() => {
      throw failure;
    }),
  ],
  ['release', 'frees the whole batch with one response', sharingMemory],
  ['close', 'closes without waiting', changed({ close: async () => {} })],
  ['reload', 'works after the first load only', onceOnly()],
];

type Report = InstanceContext['report'];

function subjectOf(
  breach: (instance: ModelInstance) => ModelInstance,
  reporting: (report: Report) => Report = (report) => report,
) {
  const models = { addsub: { compute: addSub() }, identity: { compute: identity(['y']) } };
  const makeModel = (name: ContractModelName) => ({
    name,
    version: '1',
    modelDirectory: `/models/${name}`,
    versionDirectory: `/models/${name}/1`,
    config: undefined,
  });
  const makeBackend = () => {
    const backend = new FakeBackend({ models });
    const load = backend.load.bind(backend);
    backend.load = async (context) => {
      const model = await load(context);
      const createInstance = model.createInstance.bind(model);
      model.createInstance = async ({ spec, report }) =>
        breach(await createInstance({ spec, report: reporting(report) }));
      return model;
    };
    return backend;
  };
  return contractSubject({ name: 'breach', makeBackend, makeModel });
}

describe('a rule of the contract', () => {
  it.each(BREACHES)('%s is broken by an instance that %s', async (rule, _, breach) => {
    const { subject, closeAll } = subjectOf(breach);
    await expect(RULES[rule].check(subject)).rejects.toThrow();
    await closeAll();
  });

  it.each<[string, (report: Report) => Report]>([
    ['reports nothing', () => () => {}],
    [
      'reports twice',
      (report) => (execution) => {
        report(execution);
        report(execution);
      },
    ],
    ['reports after the answers', (report) => (execution) => queueMicrotask(() => report(execution))],
    [
      'counts requests instead of rows',
      (report) => (execution) => report({ ...execution, batchSize: execution.requests.length }),
    ],
  ])('reports is broken by an instance that %s', async (_, reporting) => {
    const { subject, closeAll } = subjectOf((instance) => instance, reporting);
    await expect(RULES.reports.check(subject)).rejects.toThrow();
    await closeAll();
  });

  it('is shown a breach here', () => {
    expect(new Set([...BREACHES.map(([rule]) => rule), 'reports'])).toEqual(new Set(Object.keys(RULES)));
  });
});
