/** Sequences and iterative requests, stepped by hand as a scheduler would. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type InferenceRequest, type InferenceRequestInit, SequenceState } from '@nereid/core';
import type { Init, ModelConfig } from '@nereid/model-config';
import { requestFor, tensor, valuesOf } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inputsAndOutputs, loadFailure, ServedModel } from './served-model.ts';

const FAILING = -1;
const WRONG = -2;
const ENDING = -3;
const COUNTING = -4;

const START = { name: 'start', control: [{ kind: 'CONTROL_SEQUENCE_START' as const, fp32FalseTrue: [0, 1] }] };

const cell = (name: string, value: number) => tensor({ name, shape: [1, 1], values: [value] });

interface StepInit extends Partial<InferenceRequestInit> {
  readonly isStart?: boolean;
  readonly isPadding?: boolean;
  readonly state?: SequenceState;
}

function step(model: ServedModel, value: number, init: StepInit = {}): InferenceRequest {
  const { isStart = false, isPadding = false, state = new SequenceState(), ...rest } = init;
  const request = requestFor({ inputs: [cell('x', value)], responder: model.responder, ...rest });
  request.turn = { correlationId: 5, controls: [cell('start', isStart ? 1 : 0)], state, isPadding };
  return request;
}

/** Each output, in the order in which the model answered; `!` marks what is final. */
function shown(model: ServedModel, request: InferenceRequest): string[] {
  return model.responder.answersOf(request).map(({ response, error, final }) => {
    const outputs = (response?.outputs ?? []).map((output) => valuesOf(output).join(' '));
    return `${error?.code ?? (outputs.join(' | ') || 'end')}${final ? '!' : ''}`;
  });
}

describe('the state of a sequence', () => {
  let directory: string;
  let model: ServedModel;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'nereid-states-'));
    await mkdir(join(directory, '1'));
    await mkdir(join(directory, 'initial_state'));
    await symlink(fileURLToPath(new URL('models/sequences.py', import.meta.url)), join(directory, '1', 'model.py'));
    await writeFile(join(directory, 'initial_state', 'ten'), new Uint8Array(new Float32Array([10, 99]).buffer));
    model = await ServedModel.load({
      file: join(directory, '1', 'model.py'),
      parameters: { MODEL_CLASS: 'Sums' },
      config: {
        maxBatchSize: 8,
        ...inputsAndOutputs(['x FP32 1'], ['sum FP32 1', 'seen_out FP32 -1']),
        sequenceBatching: {
          controlInput: [START],
          state: [
            {
              inputName: 'total',
              outputName: 'total_out',
              dataType: 'TYPE_FP32',
              dims: [1],
              initialState: [{ name: 'ten', dataType: 'TYPE_FP32', dims: [1], dataFile: 'ten' }],
            },
            {
              inputName: 'seen',
              // An output too: one result for both.
              outputName: 'seen_out',
              dataType: 'TYPE_FP32',
              dims: [-1],
              initialState: [{ name: 'none', dataType: 'TYPE_FP32', dims: [1], zeroData: true }],
            },
          ],
        },
      },
    });
  });
  afterAll(async () => {
    await model.close();
    await rm(directory, { recursive: true });
  });

  /** Runs requests together; what each was answered with. */
  async function together(...requests: readonly InferenceRequest[]): Promise<string[]> {
    await model.instance().execute(requests);
    return requests.flatMap((request) => shown(model, request));
  }

  it('begins with the initial value and is that of the request before, whoever it runs with', async () => {
    const [a, b] = [new SequenceState(), new SequenceState()];
    expect(await together(step(model, 1, { state: a, isStart: true }))).toEqual(['11 | 0 101!']);
    // Shapes differ: they run apart.
    expect(await together(step(model, 2, { state: b, isStart: true }), step(model, 3, { state: a }))).toEqual([
      '12 | 0 102!',
      '14 | 0 101 3!',
    ]);
    expect(await together(step(model, 5, { state: a }), step(model, 4, { state: b }))).toEqual([
      '19 | 0 101 3 5!',
      '16 | 0 102 4!',
    ]);
    for (const state of [a, b]) state.release();
  });

  it('is as it was after a run that failed, or wrote something else', async () => {
    const state = new SequenceState();
    expect(await together(step(model, FAILING, { state }))).toEqual(['INTERNAL!']);
    expect(await together(step(model, 1, { state }))).toEqual(['11 | 0 1!']);
    expect(await together(step(model, FAILING, { state }), step(model, 1))).toEqual(['INTERNAL!', '11 | 0 1!']);
    const wrong = step(model, WRONG, { state });
    expect(await together(wrong)).toEqual(['INVALID_ARG!']);
    expect(await model.errorOf(wrong)).toMatchObject({
      message: `model 'm': state output 'total_out' is torch.float32 of shape [1, 2], but the configuration says torch.float32 of shape [1, 1]`,
    });
    expect(await together(step(model, 2, { state }))).toEqual(['13 | 0 1 2!']);
    state.release();
  });

  it('is left alone by padding, which has that of a beginning', async () => {
    const state = new SequenceState();
    await together(step(model, 1, { state }));
    const padding = step(model, 7, { state: new SequenceState(), isPadding: true });
    expect(await together(padding, step(model, 1, { state }))).toEqual(['17 | 0 7!', '12 | 0 1 1!']);
    expect(padding.turn?.state?.held).toBeUndefined();
    state.release();
  });

  it('keeps a cancelled request in its row', async () => {
    const requests = [step(model, 1), step(model, 2)];
    requests[0]?.cancel();
    expect(await together(...requests)).toEqual(['11 | 0 1!', '12 | 0 2!']);
  });

  it('is kept for as long as its sequence lives', async () => {
    const kept = async () => {
      const state = new SequenceState();
      const [shown = ''] = await together(step(model, COUNTING, { state }));
      state.release();
      return Number(shown.split(' ')[0]);
    };
    // Whatever sequences of other tests were left alone.
    const before = await kept();
    const states = [1, 2, 3].map(() => new SequenceState());
    await together(...states.map((state) => step(model, 1, { state })));
    await together(step(model, FAILING));
    expect(await kept()).toBe(before + 3);
    for (const state of states) state.release();
    expect(await kept()).toBe(before);
  });

  it('is lost with the process, which later sequences do not notice', async () => {
    const state = new SequenceState();
    await together(step(model, 1, { state }));
    expect(await together(step(model, ENDING))).toEqual(['UNAVAILABLE!']);
    await expect.poll(() => model.instance().isReady, { timeout: 30_000 }).toBe(true);
    const lost = step(model, 1, { state });
    expect(await together(lost, step(model, 2))).toEqual(['UNAVAILABLE!', '12 | 0 2!']);
    expect(await model.errorOf(lost)).toMatchObject({
      message: expect.stringContaining('was lost when the process that kept it ended; begin the sequence anew'),
    });
    state.release();
  });

  it('may come with a warmup sample, which no scheduler made', async () => {
    const request = model.request([cell('x', 1), cell('start', 1), cell('total', 0), cell('seen', 0)]);
    expect(await together(request)).toEqual(['11 | 0 101!']);
  });
});

const TURNS: Init<ModelConfig> = {
  maxBatchSize: 4,
  modelTransactionPolicy: { decoupled: true },
  ...inputsAndOutputs(['x FP32 1'], ['y FP32 1']),
  sequenceBatching: {
    iterativeSequence: true,
    controlInput: [START],
    state: [{ inputName: 'left', outputName: 'left_out', dataType: 'TYPE_FP32', dims: [1] }],
  },
};
const WINDOW = 3;

describe('an iterative request', () => {
  let model: ServedModel;
  beforeAll(async () => {
    model = await ServedModel.load({
      file: 'sequences.py',
      parameters: { MODEL_CLASS: 'Turns' },
      config: TURNS,
      backend: { maxUnreleasedResponses: WINDOW },
    });
  });
  afterAll(() => model.close());

  const beginning = (value: number, parameters: Readonly<Record<string, boolean | number>> = {}) =>
    step(model, value, { isStart: true, parameters: new Map(Object.entries(parameters)) });

  /** Runs requests together for as long as one of them asks for it; how many rows each run had. */
  async function runAll(...requests: readonly InferenceRequest[]): Promise<number[]> {
    const sizes: number[] = [];
    for (let again = new Set(requests); again.size > 0; ) {
      const batch = [...again];
      again = new Set();
      for (const request of batch) request.reschedule = () => again.add(request);
      await model.instance().execute(batch);
      sizes.push(batch.length);
      for (const request of batch) {
        const { state = undefined, correlationId = 0 } = request.turn ?? {};
        request.turn = { correlationId, controls: [cell('start', 0)], state, isPadding: false };
        for (const { response } of model.responder.answersOf(request)) response?.release?.();
      }
    }
    return sizes;
  }

  it('runs until it asks no more, with a response each time, beside others that end at other times', async () => {
    const requests = [beginning(1), beginning(3), beginning(2)];
    const responses = model.responses.length;
    expect(await runAll(...requests)).toEqual([3, 2, 1]);
    expect(requests.map((request) => shown(model, request))).toEqual([['0!'], ['2', '1', '0!'], ['1', '0!']]);
    const told = model.responses.slice(responses).map(({ index, outcome }) => `${index} ${outcome}`);
    const success = [0, 0, 0, 1, 1, 2].map((index) => `${index} success`);
    expect(told).toEqual(success);
  });

  it.each([
    ['nothing but the last of quiet turns', { quiet: true }, ['0!']],
    ['several responses of a turn', { twice: true }, ['1', '-1', '0', '0', 'end!']],
    ['no response at all, and the end', { nothing: true }, ['end!']],
  ])('has %s', async (_, parameters, expected) => {
    const request = beginning('nothing' in parameters ? 1 : 2, parameters);
    await runAll(request);
    expect(shown(model, request).map((text) => text.replace('-0', '0'))).toEqual(expected);
  });

  it('ends with the error of a turn', async () => {
    const request = beginning(5, { fails_at: 3 });
    expect(await runAll(request)).toEqual([1, 1]);
    expect(shown(model, request)).toEqual(['4', 'INTERNAL!']);
  });

  it('is cancelled while it runs, and asks no more', async () => {
    const request = beginning(9);
    request.gate = {
      take: (_, answer) => {
        request.deliver(answer);
        request.cancel();
      },
    };
    expect(await runAll(request)).toEqual([1]);
    expect(shown(model, request)).toEqual(['8', 'CANCELLED!']);
  });

  it('waits for a client that has taken too few of its responses before it runs again', async () => {
    const request = beginning(9);
    const waits: (Promise<void> | undefined)[] = [];
    request.reschedule = (ready) => waits.push(ready);
    for (let turn = 0; turn < WINDOW; turn++) await model.instance().execute([request]);
    expect(waits.map((wait) => wait !== undefined)).toEqual([false, false, true]);
    let isReady = false;
    void waits[2]?.then(() => (isReady = true));
    await new Promise(setImmediate);
    expect(isReady).toBe(false);
    const [{ response } = { response: undefined }] = model.responder.answersOf(request);
    response?.release?.();
    await waits[2];
    expect(isReady).toBe(true);
  });

  it('counts the times of all its turns', async () => {
    const before = model.reports.length;
    const request = beginning(3);
    await runAll(request);
    expect(model.reports.slice(before).map(({ requests, batchSize }) => [requests.length, batchSize])).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
    ]);
  });
});

describe('a model that asks for turns', () => {
  it('must have a way to ask', async () => {
    const error = await loadFailure({ file: 'sequences.py', parameters: { MODEL_CLASS: 'Never' }, config: TURNS });
    expect(error).toMatchObject({
      code: 'INVALID_ARG',
      reason: 'load',
      message: expect.stringContaining("forward has no keyword 'requests' to ask for another run with"),
    });
  });

  it('must be iterative', async () => {
    await using own = await ServedModel.load({
      file: 'sequences.py',
      parameters: { MODEL_CLASS: 'Asks' },
      config: { maxBatchSize: 4, ...inputsAndOutputs(['x FP32 1'], ['y FP32 1']) },
    });
    expect(await own.failure(cell('x', 1))).toMatchObject({
      message: expect.stringContaining('only with sequence_batching { iterative_sequence: true }'),
    });
  });
});
