import type { Init, ModelConfig } from '@nereid/model-config';
import { processSettings } from '@nereid/native';
import { tensor, valuesOf } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { CollectingLogger } from './collecting-logger.ts';
import { inputsAndOutputs, ServedModel } from './served-model.ts';

const TORCHSCRIPT = {
  file: 'backend_torchscript/addsub.pt',
  config: inputsAndOutputs(['INPUT0 FP32 -1', 'INPUT1 FP32 -1'], ['OUTPUT__0 FP32 -1', 'OUTPUT__1 FP32 -1']),
};
const AOTI = {
  file: 'backend_aoti/add.pt2',
  config: inputsAndOutputs(['INPUT__0 FP32 -1 -1', 'INPUT__1 FP32 -1 -1'], ['OUTPUT__0 FP32 -1 -1']),
};

interface Loaded {
  readonly served: ServedModel;
  readonly warnings: readonly string[];
}

async function load(
  name: string,
  parameters: Readonly<Record<string, string>>,
  model: { readonly file: string; readonly config: Init<ModelConfig> } = TORCHSCRIPT,
): Promise<Loaded> {
  const logger = new CollectingLogger();
  const entries = Object.entries(parameters).map(([key, stringValue]) => [key, { stringValue }] as const);
  const config = { ...model.config, parameters: new Map(entries) };
  const served = await ServedModel.load({ ...model, name, config, logger });
  return { served, warnings: logger.lines.filter((line) => line.startsWith('warn')) };
}

async function sumOf({ served }: Loaded): Promise<readonly unknown[]> {
  const inputs = ['INPUT0', 'INPUT1'].map((name, i) => tensor({ name, values: [i + 1, 10] }));
  const sum = (await served.infer(...inputs)).get('OUTPUT__1');
  return sum === undefined ? [] : [...valuesOf(sum)];
}

const FLAGS = [
  ['ENABLE_JIT_EXECUTOR', 'jitExecutor'],
  ['ENABLE_JIT_PROFILING', 'jitProfiling'],
  ['ENABLE_TENSOR_FUSER', 'tensorFuser'],
] as const;

describe.each(FLAGS)('%s', (key, setting) => {
  it.each([
    ['true', true],
    ['false', false],
  ])('%s holds while the model is loaded, and runs are right', async (text, expected) => {
    const before = processSettings()[setting];
    const loaded = await load('m', { [key]: text });
    expect(processSettings()[setting]).toBe(expected);
    // The executor specialises in the first runs: more than one of them shows that it does so rightly.
    for (let run = 0; run < 4; run++) expect(await sumOf(loaded)).toEqual([3, 20]);
    await loaded.served.close();
    expect(processSettings()[setting]).toBe(before);
  });

  it('is left alone when it is not set', async () => {
    const before = processSettings();
    const { served } = await load('m', {});
    expect(processSettings()).toEqual(before);
    await served.close();
  });

  it('of two models that disagree is reported when the second loads, with both models and values', async () => {
    const [a, b] = [await load('a', { [key]: 'true' }), await load('b', { [key]: 'false' })];
    expect(a.warnings).toEqual([]);
    expect(b.warnings).toEqual([
      `warn: model 'b' version 1: ${key} is false, but model 'a' version 1 has true; the setting is one for the whole process, so that runs ` +
        'of one model beside runs of the other may see either. Give both the same value.',
    ]);
    expect(await sumOf(a)).toEqual([3, 20]);
    expect(processSettings()[setting]).toBe(true);
    expect(await sumOf(b)).toEqual([3, 20]);
    expect(processSettings()[setting]).toBe(false);
    await b.served.close();
    expect(processSettings()[setting]).toBe(true);
    await a.served.close();
  });

  it('of two models that agree is not', async () => {
    const [a, b] = [await load('a', { [key]: 'on' }), await load('b', { [key]: '1' })];
    expect(b.warnings).toEqual([]);
    await Promise.all([a.served.close(), b.served.close()]);
  });
});

describe('DISABLE_CUDNN', () => {
  it('turns cuDNN off while the model is loaded', async () => {
    const { served } = await load('m', { DISABLE_CUDNN: 'true' });
    expect(processSettings().cudnn).toBe(false);
    await served.close();
    expect(processSettings().cudnn).toBe(true);
  });

  it('of a module and a package that disagree is reported', async () => {
    const [a, b] = [await load('a', { DISABLE_CUDNN: 'true' }), await load('b', {}, AOTI)];
    expect(b.warnings.join()).toContain(
      "model 'b' version 1: DISABLE_CUDNN is false, but model 'a' version 1 has true",
    );
    await Promise.all([a.served.close(), b.served.close()]);
  });
});

it('INTER_OP_THREAD_COUNT is taken once; later values are reported, also after a reload', async () => {
  const a = await load('a', { INTER_OP_THREAD_COUNT: '3' });
  expect(a.warnings).toEqual([]);
  expect(processSettings().interOpThreads).toBe(3);
  const same = await load('same', { INTER_OP_THREAD_COUNT: '3' }, AOTI);
  expect(same.warnings).toEqual([]);
  await a.served.close();
  for (const name of ['b', 'b']) {
    const b = await load(name, { INTER_OP_THREAD_COUNT: '2' });
    expect(b.warnings).toEqual([
      "warn: model 'b' version 1: INTER_OP_THREAD_COUNT is 2, but model 'a' version 1 has set 3, and a process takes the number once; " +
        '3 stays in force until it is restarted',
    ]);
    expect(await sumOf(b)).toEqual([3, 20]);
    await b.served.close();
  }
  expect(processSettings().interOpThreads).toBe(3);
  await same.served.close();
});

it('ENABLE_CACHE_CLEANING changes no result on the CPU', async () => {
  const loaded = await load('m', { ENABLE_CACHE_CLEANING: 'true' });
  for (let run = 0; run < 3; run++) expect(await sumOf(loaded)).toEqual([3, 20]);
  await loaded.served.close();
});
