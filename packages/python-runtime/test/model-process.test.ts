/** The process and its shared memory without Python: the child is Node and gives every frame back as it came. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLogger } from '@nereid/core';
import { expect, it } from 'vitest';
import { ModelProcess, type ModelProcessOptions } from '../src/model-process.ts';
import type { OutgoingTensor } from '../src/transport/index.ts';

const CHILD = join(dirname(fileURLToPath(import.meta.url)), 'supervisor', 'child.mjs');

function open(options: ModelProcessOptions): ModelProcess {
  return new ModelProcess({
    name: 'the child',
    linePrefix: '',
    logFields: {},
    logger: silentLogger,
    options,
    launch: () => ({ command: process.execPath, args: [CHILD, 'echo'], env: process.env, start: new Uint8Array(0) }),
  });
}

function bytes(size: number): OutgoingTensor {
  return { datatype: 'UINT8', shape: [size], parts: [new Uint8Array(size)] };
}

it('kills a process whose result is not where it says', async () => {
  const child = open({ supervisor: { backoff: { initialMs: 600_000 } } });
  await child.start();
  // The child's echo announces a slot of its own memory, to which it wrote nothing.
  await expect(child.run({ tensors: [bytes(8)], numbers: [] })).rejects.toMatchObject({
    reason: 'protocol',
    message:
      'the child was killed because of a result that cannot be read: the results of batch 1 were overwritten before they were read',
  });
  expect(child.isReady).toBe(false);
  await child.close();
});

it('refuses a call that does not fit, and keeps the process', async () => {
  const child = open({ transport: { maxBytes: 2 ** 20 } });
  await child.start();
  await expect(child.run({ tensors: [bytes(2 ** 20)], numbers: [] })).rejects.toMatchObject({ reason: 'too-large' });
  expect(child.isReady).toBe(true);
  await child.close();
  await expect(child.run({ tensors: [bytes(1)], numbers: [] })).rejects.toThrow('the child is closed');
});
