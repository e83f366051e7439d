import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createModelConfig } from '@nereid/model-config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkServing } from '../src/index.ts';

let modelDirectory: string;
beforeAll(() => {
  modelDirectory = mkdtempSync(join(tmpdir(), 'nereid-check-'));
  writeFileSync(join(modelDirectory, 'labels.txt'), 'a\nb\n');
});
afterAll(() => rmSync(modelDirectory, { recursive: true }));

const labelled = (labelFilename: string) =>
  createModelConfig({ name: 'm', output: [{ name: 'y', dataType: 'TYPE_FP32', dims: [2], labelFilename }] });

describe('a configuration', () => {
  it('of what is served has no findings', async () => {
    expect(await checkServing(labelled('labels.txt'), { modelDirectory })).toEqual([]);
  });

  it('has one for each feature and file that keeps it from being served', async () => {
    const config = {
      ...labelled('absent.txt'),
      modelRepositoryAgents: { agents: [{ name: 'checksum', parameters: new Map() }] },
    };
    expect(await checkServing(config, { modelDirectory })).toEqual([
      expect.objectContaining({ severity: 'error', path: 'model_repository_agents' }),
      expect.objectContaining({
        severity: 'error',
        path: 'output',
        message: expect.stringContaining('does not exist'),
      }),
    ]);
  });
});
