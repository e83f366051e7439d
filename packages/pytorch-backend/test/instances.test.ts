import { monitorEventLoopDelay } from 'node:perf_hooks';
import { memoryInfo } from '@nereid/native';
import { tensor, valuesOf } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { CollectingLogger } from './collecting-logger.ts';
import { inputsAndOutputs, ServedModel } from './served-model.ts';

const SLOW = { file: 'native_torchscript/slow.pt', config: inputsAndOutputs(['x FP32 1'], ['OUTPUT__0 FP32 1']) };
const MODE = { file: 'native_torchscript/mode.pt', config: inputsAndOutputs(['x FP32 1'], ['OUTPUT__0 INT64 1']) };
const HEAVY = { file: 'backend_torchscript/heavy.pt', config: inputsAndOutputs(['x FP32 1'], ['OUTPUT__0 FP32 1']) };

function x(value: number) {
  return tensor({ name: 'x', values: [value] });
}

function threads(count: string) {
  return { parameters: new Map([['INTRA_OP_THREAD_COUNT', { stringValue: count }]]) };
}

describe('instances', () => {
  it('run in parallel: a short run overtakes a long one on another instance', async () => {
    await using served = await ServedModel.load({ ...SLOW, instances: 2, config: { ...SLOW.config, ...threads('1') } });
    for (const [busy, free] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const [long, short] = [served.request([x(200)]), served.request([x(1)])];
      const running = served.instance(busy).execute([long]);
      await served.instance(free).execute([short]);
      expect([long.isDone, short.isDone]).toEqual([false, true]);
      await running;
    }
  });

  it('leave the event loop free while they run', async () => {
    await using served = await ServedModel.load({ ...SLOW, config: { ...SLOW.config, ...threads('1') } });
    const request = served.request([x(200)]);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const start = performance.now();
    delay.enable();
    const running = served.instance().execute([request]);
    let turns = 0;
    while (!request.isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      turns++;
    }
    delay.disable();
    await running;
    // Had the loop run the model, it would have turned once, with a delay as long as the run.
    expect(turns).toBeGreaterThan(100);
    expect(delay.percentile(99) / 1e6).toBeLessThan((performance.now() - start) / 2);
  });

  it.each([
    [1, 4, 4],
    [2, 4, 2],
    [3, 4, 1],
    [4, 2, 1],
  ])('of %i share %i cores: %i threads each', async (instances, cores, expected) => {
    const logger = new CollectingLogger();
    await using served = await ServedModel.load({ ...MODE, instances, cores, logger });
    expect(served.model.threads).toBe(expected);
    expect(logger.lines).toContain(
      `info: model 'm': intra-op threads per run ${expected} (usable cores ${cores}, instances ${instances})`,
    );
  });

  it('have as many threads as configured, with a warning when that is too many', async () => {
    const logger = new CollectingLogger();
    await using served = await ServedModel.load({
      ...MODE,
      config: { ...MODE.config, ...threads('3') },
      cores: 2,
      logger,
    });
    expect(served.model.threads).toBe(3);
    expect(logger.lines.join('\n')).toContain(
      "warn: model 'm': INTRA_OP_THREAD_COUNT is 3 for each instance, 3 threads in all, but only 2 cores are usable",
    );
  });

  it.each([
    ['true', 1n],
    ['false', 0n],
  ])('run with INFERENCE_MODE %s', async (stringValue, expected) => {
    const parameters = new Map([['INFERENCE_MODE', { stringValue }]]);
    await using served = await ServedModel.load({ ...MODE, config: { ...MODE.config, parameters } });
    const mode = (await served.infer(x(1))).get('OUTPUT__0');
    expect(mode && valuesOf(mode)).toEqual([expected]);
  });

  it('share weights when asked to, and say so', async () => {
    const logger = new CollectingLogger();
    const parameters = new Map([['ENABLE_WEIGHT_SHARING', { stringValue: 'true' }]]);
    const before = residentMb();
    await using served = await ServedModel.load({
      ...HEAVY,
      config: { ...HEAVY.config, parameters },
      instances: 8,
      logger,
    });
    expect(residentMb() - before).toBeLessThan(4 * WEIGHTS_MB);
    const reused = logger.lines.filter((line) => line.includes('Reusing TorchScript model for instance'));
    expect(reused).toHaveLength(7);
    for (const instance of served.instances) {
      const request = served.request([x(3)]);
      await instance.execute([request]);
      const [output] = (await served.responder.responseOf(request)).outputs;
      expect(output && valuesOf(output)).toEqual([3]);
    }
  });

  it('do not share weights otherwise', async () => {
    const logger = new CollectingLogger();
    await using served = await ServedModel.load({ ...HEAVY, instances: 2, logger });
    expect(served.instances).toHaveLength(2);
    expect(logger.lines.join()).not.toContain('Reusing');
  });
});

describe('memory', () => {
  it('comes back when models are unloaded, and when their load fails', async () => {
    const wrong = inputsAndOutputs(['x FP32 1', 'y FP32 1'], ['OUTPUT__0 FP32 1']);
    const round = async () => {
      await using served = await ServedModel.load(HEAVY);
      await served.infer(x(1));
      await expect(ServedModel.load({ ...HEAVY, config: wrong })).rejects.toThrow('configuration expects 2 inputs');
    };
    const rounds = 24;
    // The allocator keeps some freed memory for each thread that it has met; that levels off within the first rounds.
    for (let i = 0; i < rounds; i++) await round();
    const before = residentMb();
    for (let i = 0; i < rounds; i++) await round();
    // A round that kept either of its two copies of the weights would show twice over.
    expect(residentMb() - before).toBeLessThan((rounds * WEIGHTS_MB) / 2);
  });

  it('of large results comes back with the release of the last response', async () => {
    const config = { maxBatchSize: 4, ...inputsAndOutputs(['x FP32 4096'], ['OUTPUT__0 FP32 4096']) };
    await using served = await ServedModel.load({ file: 'native_torchscript/double.pt', config });
    const wide = tensor({ name: 'x', shape: [1, 4096], values: Array(4096).fill(2) });
    const requests = [served.request([wide]), served.request([wide])];
    const before = memoryInfo().externalBytes;
    await served.instance().execute(requests);
    expect(memoryInfo().externalBytes - before).toBe(2 * 4096 * 4);
    for (const request of requests) (await served.responder.responseOf(request)).release?.();
    expect(memoryInfo().externalBytes).toBe(before);
  });
});

const WEIGHTS_MB = 16;

function residentMb(): number {
  return process.memoryUsage.rss() / 2 ** 20;
}
