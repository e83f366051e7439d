import { type CompletionContext, InferenceServerError } from '@nereid/core';
import { createModelConfig, type Init, type ModelConfig } from '@nereid/model-config';
import { addSub, FakeBackend } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { ADD_SUB, ask, loaded, type ServeOptions } from './fixture.ts';

type Complete = (context: CompletionContext<ModelConfig>) => Promise<ModelConfig>;

/** Runs the fake models, and completes configurations as told. */
function completing(complete: Complete): ServeOptions {
  const backend = new FakeBackend({ compute: addSub() });
  return { backends: [Object.assign(backend, { complete })] };
}

const TENSORS: Init<ModelConfig> = {
  maxBatchSize: 4,
  input: ['a', 'b'].map((name) => ({ name, dataType: 'TYPE_FP32', dims: [3] })),
  output: ['sum', 'diff'].map((name) => ({ name, dataType: 'TYPE_FP32', dims: [3] })),
  dynamicBatching: {},
};

const whole: Complete = async ({ config }) => ({ ...config, ...pick(createModelConfig(TENSORS)) });

function pick({ maxBatchSize, input, output, dynamicBatching }: ModelConfig) {
  return { maxBatchSize, input, output, ...(dynamicBatching !== undefined && { dynamicBatching }) };
}

const BARE = { 'good/config.pbtxt': 'backend: "fake"\n', 'good/1/model.fake': '' };

describe('a configuration that the backend completes', () => {
  it('is what is served and shown, with what normalising adds', async () => {
    await using served = await loaded(BARE, completing(whole));
    expect(served.engine.modelConfig('good')).toMatchObject({
      maxBatchSize: 4,
      input: [{ name: 'a' }, { name: 'b' }],
      dynamicBatching: { preferredBatchSize: [4] },
    });
    expect((await ask(served.engine)).response?.outputs.map(({ name }) => name)).toEqual(['sum', 'diff']);
  });

  it('may be missing altogether', async () => {
    await using served = await loaded({ 'good.fake/1/model.fake': '' }, completing(whole));
    expect(served.engine.isReady()).toBe(true);
  });

  it('gives up nothing but batch size, tensors and the absent scheduler', async () => {
    const complete: Complete = async (context) => ({
      ...(await whole(context)),
      platform: 'other',
      versionPolicy: { latest: { numVersions: 7 } },
    });
    const config = `${ADD_SUB}dynamic_batching { max_queue_delay_microseconds: 5 }\n`;
    await using served = await loaded({ ...BARE, 'good/config.pbtxt': config }, completing(complete));
    expect(served.engine.modelConfig('good')).toMatchObject({
      platform: '',
      versionPolicy: { latest: { numVersions: 1 } },
      dynamicBatching: { maxQueueDelayMicroseconds: 5n },
    });
  });

  it('is checked once it is complete, with places in the file and each warning once', async () => {
    const config = 'backend: "fake"\ninput [ { name: "a" } ]\ninstance_group [ { name: "g" }, { name: "g" } ]\n';
    await using served = await loaded(
      { ...BARE, 'good/config.pbtxt': config },
      completing(async ({ config: same }) => same),
    );
    const [row] = served.engine.index();
    expect(row?.reason).toMatch(/config\.pbtxt:2:\d+: model input 'a' must specify 'data_type'/);
    const warnings = served.log.at('warn');
    expect(warnings).toEqual([expect.stringMatching(/config\.pbtxt:3:\d+: /)]);
  });

  it.each([
    ['max_batch_size: 0', true, true],
    ['', true, false],
    [undefined, false, false],
  ])('tells the backend what is stated: %s', async (text, isConfigured, states) => {
    const seen: unknown[] = [];
    const complete: Complete = async (context) => {
      seen.push([context.isConfigured, context.states('max_batch_size'), context.states('dynamic_batching')]);
      return whole(context);
    };
    const file = text === undefined ? {} : { 'good.fake/config.pbtxt': `${text}\n` };
    await using _ = await loaded({ ...file, 'good.fake/1/model.fake': '' }, completing(complete));
    expect(seen).toEqual([[isConfigured, states, false]]);
  });

  it('is completed for each version by itself', async () => {
    const complete: Complete = async (context) => ({
      ...(await whole(context)),
      maxBatchSize: Number(context.version),
    });
    const config = 'backend: "fake" version_policy { all { } }\n';
    const tree = { 'good/config.pbtxt': config, 'good/1/model.fake': '', 'good/2/model.fake': '' };
    await using served = await loaded(tree, completing(complete));
    expect(['1', '2'].map((version) => served.engine.modelConfig('good', version).maxBatchSize)).toEqual([1, 2]);
  });
});

describe('a version is not served', () => {
  it('when it has no configuration and none is made up for', async () => {
    await using served = await loaded(
      { 'good.fake/1/model.fake': '' },
      completing(async ({ config }) => config),
    );
    expect(served.engine.index()[0]?.reason).toBe("model configuration is not provided for model 'good.fake'");
    expect(served.log.at('error')).toEqual([expect.stringContaining('NOT_FOUND: model configuration is not provided')]);
  });

  it('when the backend refuses, with its reason', async () => {
    const complete: Complete = async () => Promise.reject(new InferenceServerError('INVALID_ARG', 'add a line'));
    await using served = await loaded(BARE, completing(complete));
    expect(served.engine.index()[0]?.reason).toBe('add a line');
  });

  it('when completing is turned off, though the backend would complete it', async () => {
    const options = { ...completing(whole), requireConfig: true };
    const config = `${ADD_SUB.replace('[ 3 ]', '[ ]')}`;
    await using served = await loaded({ ...BARE, 'good/config.pbtxt': config }, options);
    expect(served.engine.index()).toEqual([{ name: 'good', reason: expect.stringContaining("must specify 'dims'") }]);
  });
});
