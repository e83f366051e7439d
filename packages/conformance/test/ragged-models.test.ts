/** Ragged inputs through the dynamic batcher to real models, as the suites of the original ask it. */
import { tensor, valuesOf } from '@nereid/testing';
import { describe, expect, test } from 'vitest';
import { configText } from '../src/config-text.ts';
import { type RealRepository, serveRepository } from '../src/real-engine.ts';

const RAGGED = (name: string, dims: string) =>
  `{ name: "${name}" data_type: TYPE_FP32 dims: [ ${dims} ] allow_ragged_batch: true }`;

function batchInput(kind: string, target: string, source = 'RAGGED_INPUT'): string {
  return `batch_input { kind: ${kind} target_name: "${target}" data_type: TYPE_FP32 source_input: "${source}" }`;
}

/** Requests of four clients that come within the delay make one batch. */
const BATCHING = 'dynamic_batching { max_queue_delay_microseconds: 1000000 preferred_batch_size: 4 }';

/** A tensor whose every element is the number of its elements. */
function counted(name: string, shape: readonly number[]) {
  const count = shape.reduce((product, size) => product * size, 1);
  return tensor({ name, shape, values: Array<number>(count).fill(count) });
}

/** What each client gets of the first output, and how many executions that took. */
async function answers(served: RealRepository, shapes: readonly (readonly number[])[]) {
  const [input] = served.engine.modelConfig('m').input;
  const requests = shapes.map((shape) => served.send({ modelName: 'm', inputs: [counted(input?.name ?? '', shape)] }));
  const responses = await Promise.all(requests.map((request) => served.responder.responseOf(request)));
  const outputs = responses.map(({ outputs: [output] }) => output);
  return {
    shapes: outputs.map((output) => output?.shape),
    values: outputs.map((output) => output && valuesOf(output)),
    executions: served.engine.statistics('m')[0]?.executionCount,
  };
}

const FOUR = [
  [1, 2],
  [1, 4],
  [1, 1],
  [1, 3],
];

describe('four requests of different lengths', () => {
  test.each([
    ['BATCH_ELEMENT_COUNT', [2, 4, 1, 3]],
    ['BATCH_ACCUMULATED_ELEMENT_COUNT', [2, 6, 7, 10]],
    ['BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO', [0, 2, 6, 7, 10]],
  ])('run as one batch, whose vector of %s every client sees', async (kind, expected) => {
    const config = configText({
      maxBatchSize: 4,
      input: [RAGGED('RAGGED_INPUT', '-1')],
      output: ['BATCH TYPE_FP32 -1', 'COUNTS TYPE_FP32 -1', 'RAGGED TYPE_FP32 -1'],
      more: [batchInput(kind, 'BATCH_INPUT'), batchInput('BATCH_ELEMENT_COUNT', 'BATCH_AND_SIZE_INPUT'), BATCHING].join(
        '\n',
      ),
    });
    const versions = { 1: 'ragged_torchscript/batch_input.pt' };
    await using served = await serveRepository([{ name: 'm', config, versions }]);
    expect(served.failures).toEqual([]);
    const found = await answers(served, FOUR);
    expect(found).toEqual({
      shapes: Array(4).fill([1, expected.length]),
      values: Array(4).fill(expected),
      executions: 1,
    });
  });

  test('get their own vectors back where the output is cut by the shapes of the input', async () => {
    const scatter = 'batch_output { target_name: "OUTPUT" kind: BATCH_SCATTER_WITH_INPUT_SHAPE source_input: "INPUT" }';
    const config = configText({
      maxBatchSize: 4,
      input: [RAGGED('INPUT', '-1')],
      output: ['OUTPUT TYPE_FP32 -1'],
      more: `${scatter}\n${BATCHING}`,
    });
    const versions = { 1: 'ragged_torchscript/identity.pt' };
    await using served = await serveRepository([{ name: 'm', config, versions }]);
    expect(served.failures).toEqual([]);
    expect(await answers(served, FOUR)).toEqual({
      shapes: FOUR,
      values: FOUR.map(([, count = 0]) => Array(count).fill(count)),
      executions: 1,
    });
  });

  test('run apart where the input is not ragged', async () => {
    const config = configText({
      maxBatchSize: 4,
      input: ['x TYPE_FP32 -1'],
      output: ['OUTPUT__0 TYPE_FP32 -1'],
      more: BATCHING.replace('1000000', '1000'),
    });
    await using served = await serveRepository([{ name: 'm', config, versions: { 1: 'identity/model.pt' } }]);
    expect(await answers(served, FOUR)).toMatchObject({ shapes: FOUR, executions: 4 });
  });
});

describe('a target that the model does not have is named at load', () => {
  test.each([
    ['of a module', 'pytorch_libtorch', 'ragged_torchscript/batch_input.pt', 'RAGGED_INPUT', 'BATCH_AND_SIZE_INPUT'],
    ['of a package', 'torch_aoti', 'ragged_aoti/ragged.pt2', 'INPUT__0', undefined],
  ])('%s', async (_, platform, file, source, other) => {
    const targets = [
      batchInput('BATCH_ELEMENT_COUNT', 'nowhere', source),
      ...(other === undefined ? [] : [batchInput('BATCH_ELEMENT_COUNT', other, source)]),
    ];
    const config = configText({
      platform,
      maxBatchSize: 4,
      input: [RAGGED(source, '-1')],
      output: ['OUTPUT__0 TYPE_FP32 -1'],
      more: [...targets, BATCHING].join('\n'),
    });
    await using served = await serveRepository([{ name: 'm', config, versions: { 1: file } }]);
    expect(served.failures).toMatchObject([{ reason: expect.stringContaining("'nowhere'") }]);
  });
});
