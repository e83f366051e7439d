/** Whatever comes together, each request gets one last answer, its own, and the next batch runs. */
import type { InferenceRequest, Tensor } from '@nereid/core';
import { tensor, valuesOf } from '@nereid/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inputsAndOutputs, ServedModel } from './served-model.ts';

/** What a client may send, by what becomes of it alone. */
const KINDS = ['good', 'empty', 'raising', 'missing', 'doubled', 'wide', 'short', 'typed', 'cancelled'] as const;
type Kind = (typeof KINDS)[number];

interface Sent {
  readonly kind: Kind;
  readonly request: InferenceRequest;
}

function inputsOf(kind: Kind, names: readonly string[], value: number): readonly Tensor[] {
  const rows = kind === 'empty' ? 0 : 1;
  const width = kind === 'wide' ? 3 : 2;
  const values = Array.from({ length: rows * width }, () => (kind === 'raising' ? -value : value));
  const inputs = names.map((name) => tensor({ name, shape: [rows, width], values }));
  const [first] = inputs;
  if (first === undefined) return inputs;
  const { data } = first;
  if (kind === 'missing') return inputs.slice(1);
  if (kind === 'doubled') return [...inputs, first];
  if (kind === 'short') return [{ ...first, data: data.subarray(1) }, ...inputs.slice(1)];
  if (kind === 'typed') return [{ ...first, datatype: 'INT32' }, ...inputs.slice(1)];
  return inputs;
}

describe.each([
  { engine: 'TorchScript', file: 'golden_repository/picky/1/model.pt', names: ['x'], raises: true },
  { engine: 'AOTInductor', file: 'backend_aoti/add.pt2', names: ['INPUT__0', 'INPUT__1'], raises: false },
])('requests to $engine', ({ engine, file, names, raises }) => {
  let served: ServedModel;

  beforeAll(async () => {
    const platform = engine === 'AOTInductor' ? 'torch_aoti' : 'pytorch_libtorch';
    const specs = names.map((name) => `${name} FP32 2`);
    const config = { platform, maxBatchSize: 8, ...inputsAndOutputs(specs, ['OUTPUT__0 FP32 2']) };
    served = await ServedModel.load({ file, config });
  });

  afterAll(() => served.close());

  function send(kind: Kind, value: number): Sent {
    const request = served.request(inputsOf(kind, names, value));
    if (kind === 'cancelled') request.cancel();
    return { kind, request };
  }

  /** The value in a good answer; its error's code otherwise. */
  async function answerTo({ request }: Sent): Promise<unknown> {
    const { response, error } = await served.responder.finalOf(request);
    if (error !== undefined) return error.code;
    const [output] = response?.outputs ?? [];
    return output && [...valuesOf(output)][0];
  }

  function expected({ kind, request }: Sent, batch: readonly Sent[]): unknown {
    if (kind === 'cancelled') return 'CANCELLED';
    if (kind !== 'good' && kind !== 'empty' && kind !== 'raising') return 'INVALID_ARG';
    // An exception in forward is that of the whole batch.
    if (raises && batch.some((each) => each.kind === 'raising')) return 'INTERNAL';
    if (kind === 'empty') return undefined;
    const [first] = request.inputs;
    return first && Number(valuesOf(first)[0]) * names.length;
  }

  it('are each answered once, as the batch makes it, and the next one works', async () => {
    const kinds = fc.array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 8 });
    const property = fc.asyncProperty(kinds, async (batch) => {
      const sent = batch.map((kind, i) => send(kind, i + 1));
      await served.instance().execute(sent.map(({ request }) => request));
      expect(await Promise.all(sent.map(answerTo))).toEqual(sent.map((each) => expected(each, sent)));
      const requests = new Set(sent.map(({ request }) => request));
      expect(served.responder.answers.filter(({ request }) => requests.has(request))).toHaveLength(sent.length);
      expect(await answerTo(await runAlone(send('good', 5)))).toBe(5 * names.length);
    });
    await fc.assert(property, { seed: 7, numRuns: 100 });
  });

  async function runAlone(sent: Sent): Promise<Sent> {
    await served.instance().execute([sent.request]);
    return sent;
  }
});
