import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { WeightsSource } from '@nereid/core';
import { addSub, FakeBackend } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { GOOD, loaded } from './fixture.ts';

const REPORT = { updated: ['weight'], kept: [], ignored: [] };

/** A backend that keeps what it is given, and answers when `release` is called. */
function exchanging() {
  const sources: WeightsSource[] = [];
  let release = () => {};
  const updateWeights = async (source: WeightsSource) => {
    sources.push(source);
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return REPORT;
  };
  return { sources, release: () => release(), backend: new FakeBackend({ compute: addSub(), updateWeights }) };
}

describe('updateWeights', () => {
  it('resolves a file inside the model directory and answers with what became of the weights', async () => {
    const { sources, release, backend } = exchanging();
    await using served = await loaded({ ...GOOD, 'good/weights/new.pt': '' }, { backend });
    const update = served.engine.updateWeights('good', '', { file: 'weights/new.pt' });
    await expect.poll(() => sources).toEqual([{ file: await realpath(join(served.path, 'good/weights/new.pt')) }]);
    release();
    expect(await update).toEqual(REPORT);
  });

  it('passes tensors on as they are', async () => {
    const { sources, release, backend } = exchanging();
    await using served = await loaded(GOOD, { backend });
    const source = { tensors: [] };
    const update = served.engine.updateWeights('good', '1', source);
    await expect.poll(() => sources).toEqual([source]);
    release();
    await update;
  });

  it('holds the version: unloading waits for it', async () => {
    const { sources, release, backend } = exchanging();
    await using served = await loaded(GOOD, { backend });
    const update = served.engine.updateWeights('good', '', { tensors: [] });
    await expect.poll(() => sources.length).toBe(1);
    const stopping = served.engine.stop();
    expect(backend.loadedModels).toEqual(['good/1']);
    release();
    await Promise.all([update, stopping]);
    expect(backend.loadedModels).toEqual([]);
  });

  it.each(['../outside.pt', '/etc/hostname'])('refuses %s', async (file) => {
    await using served = await loaded(GOOD, { backend: exchanging().backend });
    await expect(served.engine.updateWeights('good', '', { file })).rejects.toThrow(/escapes the directory/);
  });

  it('is refused where the backend cannot, and for models that are not there', async () => {
    await using served = await loaded(GOOD);
    const source = { tensors: [] };
    await expect(served.engine.updateWeights('good', '', source)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    await expect(served.engine.updateWeights('none', '', source)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(served.engine.updateWeights('good', '7', source)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
