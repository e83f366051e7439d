/**
 * What a call through the process costs over the same call in Python, in one run. Divide by the number in the name.
 *
 * - `mlp`: 64→128→10, one row per request: the cost per call, mostly waking the other process;
 * - `large`: 4 MB in and out: the cost per copy.
 * - `Python alone` calls the module in a loop, `one at a time` waits for each answer, `two in flight` keeps the instance's capacity full, `batches of 8` joins requests.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { silentLogger } from '@nereid/core';
import { createModelConfig } from '@nereid/model-config';
import { requestFor, usePython } from '@nereid/testing';
import { afterAll, bench, describe } from 'vitest';
import { type PythonInstance, PythonRuntimeBackend } from '../src/index.ts';

const HERE = dirname(fileURLToPath(import.meta.url));
const OPTIONS = { time: 2000, warmupTime: 500 };
const BATCH = 8;
const SPEC = { name: 'm_0', kind: 'KIND_CPU', deviceId: 0 } as const;

async function open(name: string, width: number): Promise<PythonInstance> {
  const model = await new PythonRuntimeBackend({ python: usePython() }).load({
    name,
    version: '1',
    modelDirectory: HERE,
    versionDirectory: HERE,
    config: createModelConfig({
      maxBatchSize: BATCH,
      defaultModelFilename: `${name}.py`,
      parameters: new Map([['TORCH_COMPILE_OPTIONAL_PARAMETERS', { stringValue: '{"disable": true}' }]]),
      input: [{ name: 'x', dataType: 'TYPE_FP32', dims: [width] }],
      output: [{ name: 'y', dataType: 'TYPE_FP32', dims: [-1] }],
    }),
    instances: [SPEC],
    logger: silentLogger,
  });
  return model.createInstance({ spec: SPEC, report() {} });
}

/** A Python that calls the module; one order at a time, as bench may begin a second before the first is done. */
class Alone {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #last: Promise<unknown>;

  constructor(model: string) {
    this.#child = spawn(usePython(), [join(HERE, 'alone.py'), model], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#last = once(this.#child.stdout, 'data');
  }

  call(calls: number): Promise<unknown> {
    this.#last = this.#last.then(() => {
      this.#child.stdin.write(`${calls}\n`);
      return once(this.#child.stdout, 'data');
    });
    return this.#last;
  }

  close(): void {
    this.#child.stdin.end();
  }
}

interface Load {
  readonly requests: number;
  /** Batches that the instance holds at a time. */
  readonly atOnce: number;
  /** Requests of one batch. */
  readonly together: number;
}

async function call(
  { instance, width }: { readonly instance: PythonInstance; readonly width: number },
  { requests, atOnce, together }: Load,
): Promise<void> {
  const x = { name: 'x', datatype: 'FP32', shape: [1, width], data: new Uint8Array(4 * width) } as const;
  let left = requests / together;
  const client = async () => {
    while (left-- > 0) await instance.execute(Array.from({ length: together }, () => requestFor({ inputs: [x] })));
  };
  await Promise.all(Array.from({ length: atOnce }, client));
}

const mlp = { instance: await open('mlp', 64), alone: new Alone('mlp'), width: 64 };
const large = { instance: await open('large', 2 ** 20), alone: new Alone('large'), width: 2 ** 20 };

afterAll(async () => {
  for (const { instance, alone: child } of [mlp, large]) {
    await instance.close();
    child.close();
  }
});

describe('mlp, 400 requests', () => {
  bench('Python alone', async () => void (await mlp.alone.call(400)), OPTIONS);
  bench('one at a time', () => call(mlp, { requests: 400, atOnce: 1, together: 1 }), OPTIONS);
  bench('two in flight', () => call(mlp, { requests: 400, atOnce: 2, together: 1 }), OPTIONS);
  bench('batches of 8, two in flight', () => call(mlp, { requests: 400, atOnce: 2, together: BATCH }), OPTIONS);
});

describe('large, 20 requests', () => {
  bench('Python alone', async () => void (await large.alone.call(20)), OPTIONS);
  bench('one at a time', () => call(large, { requests: 20, atOnce: 1, together: 1 }), OPTIONS);
  bench('two in flight', () => call(large, { requests: 20, atOnce: 2, together: 1 }), OPTIONS);
});
