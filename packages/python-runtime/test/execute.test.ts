/** One process serves most of these tests: its model does what the first value of the input says. */
import { DATATYPES, isDatatype } from '@nereid/core';
import { tensor, valuesOf } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CollectingLogger } from './collecting-logger.ts';
import { inputsAndOutputs, row, ServedModel } from './served-model.ts';

const logger = new CollectingLogger();
let model: ServedModel;

beforeAll(async () => {
  model = await ServedModel.load({
    file: 'behaviour.py',
    logger,
    config: { maxBatchSize: 8, ...inputsAndOutputs(['x FP32 -1'], ['y FP32 -1']) },
  });
});
afterAll(() => model.close());

describe('results of forward', () => {
  it.each([
    { what: 'a tensor', code: 0, expected: [0, 5] },
    { what: 'a tuple, whose first results are the outputs', code: 5, expected: [5, 5] },
    { what: 'a dict, which is asked by name', code: 8, expected: [9, 6] },
    { what: 'an array of another library, through DLPack', code: 14, expected: [28, 10] },
    { what: 'a tensor with another layout in memory', code: 15, expected: [15, 5] },
    { what: 'a sparse tensor', code: 19, expected: [19, 5] },
  ])('may be $what', async ({ code, expected }) => {
    const outputs = await model.infer(row(code, 5));
    const y = outputs.get('y');
    expect(y).toMatchObject({ datatype: 'FP32', shape: [1, 2] });
    expect(y && valuesOf(y)).toEqual(expected);
  });

  it.each([
    {
      what: 'fewer than the configuration names',
      code: 6,
      message: "model 'm': forward returned 0 results, the configuration names 1 output: y",
    },
    {
      what: 'a dict without the name',
      code: 7,
      message: "model 'm': forward returned a dict without 'y'; it has ['other']",
    },
    { what: 'no tensor', code: 9, message: "model 'm': result 0 of forward ('y') is a str, expected a tensor" },
    {
      what: 'a datatype that no client knows',
      code: 10,
      message: "model 'm': output 'y' has datatype torch.complex64, which cannot be returned; convert it in forward",
    },
    {
      what: 'another datatype than the configuration says',
      code: 11,
      message: "configuration expects datatype TYPE_FP32 for output 'y', model provides TYPE_INT32",
    },
    { what: 'a scalar', code: 12, message: "output 'y' is a scalar which is not supported." },
    {
      what: 'more rows than the batch has',
      code: 13,
      message:
        "output 'y' has shape [2,2], but the batch has 1 rows: forward must return one row per input row, or set max_batch_size to 0",
    },
  ])('may not be $what; the next request works', async ({ code, message }) => {
    expect(await model.failure(row(code, 5))).toMatchObject({ reason: 'output', message });
    expect((await model.infer(row(0))).size).toBe(1);
  });
});

describe('an exception in forward', () => {
  it('reaches every client of the call with the last lines of the traceback; the next call works', async () => {
    const requests = [row(1, 0), row(1, 0)].map((x) => model.request([x]));
    const before = model.reports.length;
    await model.instance().execute(requests);
    for (const request of requests) {
      expect(await model.errorOf(request)).toMatchObject({
        code: 'INTERNAL',
        reason: 'execution',
        message: [
          "model 'm': forward failed: ValueError: the cat sat on the keyboard",
          '  at behaviour.py:22, in forward: fail_below()',
          '  at behaviour.py:11, in fail_below: raise ValueError("the cat sat on the keyboard")',
        ].join('\n'),
        traceback: expect.stringContaining('Traceback (most recent call last)'),
      });
    }
    expect(model.reports).toHaveLength(before);
    expect((await model.infer(row(0))).size).toBe(1);
  });

  it('does not end the process, even when it asks for that', async () => {
    const { pid } = model.instance();
    expect((await model.failure(row(17))).message).toContain('forward failed: SystemExit: 3');
    expect(model.instance().pid).toBe(pid);
  });
});

describe('requests that run together', () => {
  it('are one call, whose results each gets its own rows of', async () => {
    const sizes = [1, 3, 2];
    const requests = sizes.map((rows, i) =>
      model.request([
        tensor({
          name: 'x',
          shape: [rows, 2],
          values: Array.from({ length: rows * 2 }, (_, k) => (i + k === 0 ? 0 : i * 10 + k)),
        }),
      ]),
    );
    const before = model.reports.length;
    const results = await model.run(...requests);
    for (const [i, outputs] of results.entries()) {
      const y = outputs.get('y');
      expect(y?.shape).toEqual([sizes[i], 2]);
      expect(y && [...y.data]).toEqual([...(requests[i]?.inputs[0]?.data ?? [])]);
    }
    expect(model.reports.slice(before).map(({ batchSize }) => batchSize)).toEqual([6]);
  });

  it.each([
    { what: 'a missing input', inputs: [], message: "model 'm': input 'x' is missing; the model takes 'x' FP32 [-1]" },
    {
      what: 'another datatype',
      inputs: [tensor({ name: 'x', shape: [1, 1], values: [1], datatype: 'INT32' })],
      message: "model 'm': input 'x' INT32 [1,1]: the model takes FP32",
    },
    {
      what: 'another rank',
      inputs: [tensor({ name: 'x', values: [1] })],
      message: "model 'm': unexpected shape for input 'x': expected [-1,-1], got [1]",
    },
    {
      what: 'too few bytes',
      inputs: [{ ...row(1, 2), data: new Uint8Array(4) }],
      message: "model 'm': input 'x' FP32 [1,2] needs 8 bytes, got 4",
    },
    {
      what: 'an input too many',
      inputs: [row(0), { ...row(0), name: 'z' }],
      message: "model 'm': an input is unknown or given twice; the model takes 'x' FP32 [-1]",
    },
  ])('go on without one that has $what', async ({ inputs, message }) => {
    const [bad, good] = [model.request(inputs), model.request([row(0, 3)])];
    await model.instance().execute([bad, good]);
    expect(await model.errorOf(bad)).toMatchObject({ code: 'INVALID_ARG', reason: 'request', message });
    expect((await model.responder.responseOf(good)).outputs).toHaveLength(1);
  });

  it('go on without one of another width, and without one that was cancelled', async () => {
    const [first, wide, cancelled] = [
      model.request([row(0, 1)]),
      model.request([row(0, 1, 2)]),
      model.request([row(0, 1)]),
    ];
    cancelled.cancel();
    await model.instance().execute([first, wide, cancelled]);
    expect((await model.errorOf(wide)).message).toContain(
      "input 'x' has another shape than in the batch's first request",
    );
    expect(await model.errorOf(cancelled)).toMatchObject({ code: 'CANCELLED' });
    expect((await model.responder.responseOf(first)).outputs).toHaveLength(1);
  });

  it('are refused when they are more rows than max_batch_size', async () => {
    const x = tensor({ name: 'x', shape: [5, 1], values: [0, 0, 0, 0, 0] });
    const requests = [model.request([x]), model.request([x])];
    await model.instance().execute(requests);
    for (const request of requests) {
      expect((await model.errorOf(request)).message).toBe("batch size 10 for 'm', max allowed is 8");
    }
  });

  it('are answered without a call when they have no rows', async () => {
    const before = model.reports.length;
    const outputs = await model.infer({ name: 'x', datatype: 'FP32', shape: [0, 4], data: new Uint8Array(0) });
    expect(outputs.get('y')).toMatchObject({ datatype: 'FP32', shape: [0, 0] });
    expect(model.reports).toHaveLength(before);
  });
});

describe('the process', () => {
  it('runs in inference mode, on one thread of each kind by default', async () => {
    const mode = (await model.infer(row(18, 0))).get('y');
    expect(mode && valuesOf(mode)).toEqual([1, 1]);
    const threads = (await model.infer(row(16, 0))).get('y');
    expect(threads && valuesOf(threads)).toEqual([1, 1]);
  });

  it('has its prints in the log, with the name of the model', async () => {
    await model.infer(row(4));
    expect(await logger.line('a line from forward')).toBe('info: m: a line from forward');
  });

  it('said at start with how many threads and how it compiles', () => {
    expect(logger.lines).toContain(
      "info: Torch parallelism settings for 'm': NUM_THREADS = 1; NUM_INTEROP_THREADS = 1;",
    );
    expect(logger.lines).toContain("info: 'torch.compile' optional parameter(s) for 'm': {'disable': True}");
    expect(logger.lines).toContain("info: model 'm': runs on one thread unless parameter NUM_THREADS says otherwise");
    expect(logger.lines).toContain(
      "info: 'm' has no weights file 'behaviour.pt'; its parameters are as its class sets them",
    );
  });
});

describe('sizes', () => {
  it('answers many small requests in their order', async () => {
    const requests = Array.from({ length: 300 }, (_, i) => model.request([row(0, i)]));
    await Promise.all(requests.map((request) => model.instance().execute([request])));
    for (const [i, request] of requests.entries()) {
      const [y] = (await model.responder.responseOf(request)).outputs;
      expect(y && valuesOf(y)).toEqual([0, i]);
    }
  });

  it('carries 200 MB through a batch while the event loop goes on, and small ones after it', async () => {
    const x = new Float32Array(50_000_000);
    for (let i = 1; i < x.length; i += 4096) x[i] = i;
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const outputs = await model.infer({
      name: 'x',
      datatype: 'FP32',
      shape: [1, x.length],
      data: new Uint8Array(x.buffer),
    });
    clearInterval(timer);
    const data = outputs.get('y')?.data ?? new Uint8Array(0);
    expect(Buffer.compare(data, new Uint8Array(x.buffer))).toBe(0);
    expect(turns).toBeGreaterThan(1);
    expect((await model.infer(row(0))).size).toBe(1);
  });

  it('makes room for results that are larger than their inputs', async () => {
    const outputs = await model.infer(row(21));
    expect(outputs.get('y')?.shape).toEqual([1, 1 << 22]);
    const [first, second] = await Promise.all([model.infer(row(21)), model.infer(row(21))]);
    expect(first?.get('y')?.data.byteLength).toBe(second?.get('y')?.data.byteLength);
  });
});

describe('a limit of shared memory', () => {
  it('refuses the inputs or results beyond it, and the next request works', async () => {
    await using small = await ServedModel.load({
      file: 'behaviour.py',
      config: { maxBatchSize: 8, ...inputsAndOutputs(['x FP32 -1'], ['y FP32 -1']) },
      backend: { process: { transport: { maxBytes: 2 ** 20 } } },
    });
    const wide = { name: 'x', datatype: 'FP32', shape: [1, 2 ** 18], data: new Uint8Array(2 ** 20) } as const;
    expect(await small.failure(wide)).toMatchObject({
      code: 'INVALID_ARG',
      reason: 'memory',
      message:
        "model 'm': the batch needs 1048640 bytes of shared memory, at most 1048576 are allowed; send less at once, or raise maxBytes",
    });
    expect(await small.failure(row(21))).toMatchObject({
      code: 'UNAVAILABLE',
      reason: 'memory',
      message: "model 'm': the results need 16777280 bytes of shared memory, at most 1048576 are allowed.",
    });
    expect((await small.infer(row(0))).size).toBe(1);
  });
});

describe('without batching', () => {
  it('carries every datatype bit by bit, and makes a call of each request', async () => {
    const datatypes = Object.keys(DATATYPES)
      .filter(isDatatype)
      .filter((datatype) => datatype !== 'BYTES');
    const names = datatypes.map((datatype) => `${datatype} ${datatype} -1 2`);
    await using plain = await ServedModel.load({ file: 'identity.py', config: inputsAndOutputs(names, names) });
    const inputs = datatypes.map((datatype) => {
      const data = Uint8Array.from({ length: 4 * DATATYPES[datatype].byteSize }, (_, i) =>
        datatype === 'BOOL' ? i % 2 : (i * 37) % 256,
      );
      return { name: datatype, datatype, shape: [2, 2], data };
    });
    const results = await plain.run(plain.request(inputs), plain.request(inputs, ['FP16']));
    expect([...(results[0]?.values() ?? [])]).toEqual(inputs);
    expect([...(results[1]?.keys() ?? [])]).toEqual(['FP16']);
    expect(plain.reports.map(({ batchSize }) => batchSize)).toEqual([1, 1]);
    const empty = inputs.map((input) => ({ ...input, shape: [0, 2], data: new Uint8Array(0) }));
    expect([...(await plain.infer(...empty)).values()]).toEqual(empty);
  });
});
