import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tensor, usePython, valuesOf } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { FRAME, frameHeader } from '../src/supervisor/frames.ts';
import { TensorTransport } from '../src/transport/index.ts';
import { CollectingLogger } from './collecting-logger.ts';
import { inputsAndOutputs, NOT_COMPILED, row, ServedModel, type ServeOptions } from './served-model.ts';

const HERE = dirname(fileURLToPath(import.meta.url));
const NOBODY_HOME = "model 'm': the Python process of instance 'm_0' was ended by signal SIGKILL";

/** `sleepy.py` says that it runs, then sleeps for as many seconds as the first value says. */
const SLEEPY: ServeOptions = {
  file: 'sleepy.py',
  config: { maxBatchSize: 4, ...inputsAndOutputs(['x FP32 -1'], ['y FP32 -1']) },
};
const QUICK_RESTART = { process: { supervisor: { backoff: { initialMs: 1 } } } };
const SLOW_RESTART = { process: { supervisor: { backoff: { initialMs: 600_000, maxMs: 600_000, jitter: 0 } } } };

async function kill(model: ServedModel, index = 0): Promise<void> {
  const { pid } = model.instance(index);
  if (pid === undefined) throw new Error(`instance ${index} is not ready`);
  process.kill(pid, 'SIGKILL');
}

describe('a process that ends in flight', () => {
  it('fails the batch it ran; the one behind it runs on the next process, and other instances do not notice', async () => {
    const logger = new CollectingLogger();
    await using model = await ServedModel.load({ ...SLEEPY, instances: 2, logger, backend: QUICK_RESTART });
    const [first, other] = [model.instance(0), model.instance(1)];
    const { pid } = first;
    const running = [model.request([row(60)]), model.request([row(60)])];
    const behind = model.request([row(0, 7)]);
    const elsewhere = model.request([row(0, 8)]);
    const settled = [first.execute(running), first.execute([behind])];
    await logger.line('m: running 60');
    await kill(model);
    await other.execute([elsewhere]);
    expect((await model.responder.responseOf(elsewhere)).outputs).toHaveLength(1);
    await Promise.all(settled);
    for (const request of running) {
      expect(await model.errorOf(request)).toMatchObject({
        code: 'UNAVAILABLE',
        reason: 'process',
        message: expect.stringContaining(NOBODY_HOME),
      });
    }
    const [y] = (await model.responder.responseOf(behind)).outputs;
    expect(y && valuesOf(y)).toEqual([0, 7]);
    expect(first.pid).not.toBe(pid);
    expect(first.isReady).toBe(true);
    expect((await model.infer(row(0, 9))).size).toBe(1);
  });

  it('leaves its last words to the clients', async () => {
    await using model = await ServedModel.load({ ...SLEEPY, backend: SLOW_RESTART });
    const error = await model.failure(row(-1));
    expect(error.message).toBe(
      "model 'm': the Python process of instance 'm_0' ended with exit code 7; its last lines:\n  about to leave",
    );
  });

  it('leaves the Python stack when it crashed in native code', async () => {
    await using model = await ServedModel.load({ ...SLEEPY, backend: SLOW_RESTART });
    const { message } = await model.failure(row(-2));
    expect(message).toContain('was ended by signal SIGSEGV; its last lines:\n  Fatal Python error: Segmentation fault');
    expect(message).toMatch(/File ".*\/sleepy\.py", line 14 in forward/);
  });

  it('is not waited for when its restart is far away', async () => {
    await using model = await ServedModel.load({ ...SLEEPY, backend: SLOW_RESTART });
    await model.failure(row(-1));
    const error = await model.failure(row(0));
    expect(error).toMatchObject({ code: 'UNAVAILABLE', reason: 'process' });
    expect(error.message).toContain('ended with exit code 7; it is started again in 600 s');
    expect(model.instance().isReady).toBe(false);
  });

  it('stays occupied while it is down and another instance can work, so that it does not attract every request', async () => {
    const model = await ServedModel.load({ ...SLEEPY, instances: 2, backend: SLOW_RESTART });
    const request = model.request([row(-1)]);
    let isSettled = false;
    const settled = model
      .instance(0)
      .execute([request])
      .then(() => {
        isSettled = true;
      });
    await model.errorOf(request);
    const onOther = model.request([row(0)]);
    await model.instance(1).execute([onOther]);
    expect(isSettled).toBe(false);
    await model.close();
    await settled;
  });
});

describe('close', () => {
  it('waits for the batches in flight and takes no more', async () => {
    const logger = new CollectingLogger();
    const model = await ServedModel.load({ ...SLEEPY, logger });
    const requests = [model.request([row(0.5)]), model.request([row(0)])];
    const settled = requests.map((request) => model.instance().execute([request]));
    await logger.line('m: running 0.5');
    await model.close();
    await Promise.all(settled);
    for (const request of requests) expect((await model.responder.responseOf(request)).outputs).toHaveLength(1);
    expect(await model.failure(row(0))).toMatchObject({ code: 'UNAVAILABLE', reason: 'closed' });
  });

  it('ends a process whose call does not end', async () => {
    const logger = new CollectingLogger();
    const model = await ServedModel.load({ ...SLEEPY, logger, backend: { process: { closeTimeoutMs: 10 } } });
    const request = model.request([row(600)]);
    const settled = model.instance().execute([request]);
    await logger.line('m: running 600');
    await model.close();
    await settled;
    expect((await model.errorOf(request)).message).toContain(
      'was ended because its call still ran 0.01 s after it was closed',
    );
  });

  it('leaves nothing in shared memory, nor does a process that was killed', async () => {
    const before = sharedFiles();
    const logger = new CollectingLogger();
    const model = await ServedModel.load({ ...SLEEPY, logger, backend: QUICK_RESTART });
    const large = tensor({ name: 'x', shape: [1, 300_000], values: Array(300_000).fill(0) });
    await model.infer(large);
    expect(sharedFiles()).toEqual(before);
    await kill(model);
    await logger.line('it is started again');
    await model.infer(large);
    await model.close();
    expect(sharedFiles()).toEqual(before);
  });
});

describe('the runtime', () => {
  it('ends when its parent is gone, also while the model is busy', async () => {
    const transport = new TensorTransport();
    const child = spawn(usePython(), ['-u', '-B', join(HERE, '..', 'python', 'runtime.py')], {
      stdio: ['ignore', 'pipe', 'inherit', 'pipe', ...transport.descriptors],
    });
    const pipe = child.stdio[3];
    if (!(pipe instanceof Socket) || child.stdout === null) throw new Error('no pipe');
    const start = Buffer.from(
      JSON.stringify({
        model: 'm',
        path: join(HERE, 'models', 'busy.py'),
        outputs: ['y'],
        modelClass: null,
        compileOptions: JSON.parse(NOT_COMPILED.TORCH_COMPILE_OPTIONAL_PARAMETERS),
        numThreads: 1,
        numInteropThreads: 1,
        device: 'cpu',
        maxBytes: 1024,
      }),
    );
    pipe.write(Buffer.concat([frameHeader(FRAME.start, start.length), start]));
    await once(child.stdout, 'data');
    const exit = once(child, 'exit');
    pipe.destroy();
    expect(await exit).toEqual([0, null]);
    transport.close();
  });
});

function sharedFiles(): string[] {
  return readdirSync('/dev/shm').filter((name) => name.startsWith('nereid'));
}
