import { tensor, valuesOf } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { CollectingLogger } from './collecting-logger.ts';
import { inputsAndOutputs, ServedModel, type ServeOptions } from './served-model.ts';

function load(file: string, config: ServeOptions['config'], options: Partial<ServeOptions> = {}): Promise<ServedModel> {
  return ServedModel.load({ file, config, ...options });
}

function fp32(name: string, shape: readonly number[], ...values: readonly number[]) {
  return tensor({ name, shape, values });
}

describe('names of inputs and outputs', () => {
  // forward(INPUT0, INPUT1) returns (INPUT0 − INPUT1, INPUT0 + INPUT1); the second column is what the name order makes of it.
  it.each([
    ['io_index', ['INPUT__0', 'INPUT__1'], ['OUTPUT__0', 'OUTPUT__1'], [0, 1]],
    ['output_index', ['INPUT0', 'INPUT1'], ['OUTPUT__0', 'OUTPUT__1'], [0, 1]],
    ['no_output_index', ['INPUT0', 'INPUT1'], ['OUTPUT0', 'OUTPUT1'], [0, 1]],
    ['no_arguments_output_index', ['INPUTA', 'INPUTB'], ['OUTPUTA', 'OUTPUTB'], [0, 1]],
    ['mix_index', ['INPUTA', 'INPUT__1'], ['OUTPUTA', 'OUTPUT__1'], [0, 1]],
    ['mix_arguments', ['INPUT0', 'INPUTB'], ['OUTPUTA', 'OUTPUT__1'], [0, 1]],
    ['mix_arguments_index', ['INPUT0', 'INPUT__1'], ['OUTPUT0', 'OUTPUT__1'], [0, 1]],
    ['unordered_index', ['INPUT1', 'INPUT0'], ['OUT__1', 'OUT__0'], [1, 0]],
  ] as const)('%s', async (_, inputs, outputs, position) => {
    const spec = (names: readonly string[]) => names.map((name) => `${name} FP32 16`);
    const config = { maxBatchSize: 8, ...inputsAndOutputs(spec(inputs), spec(outputs)) };
    await using served = await load('backend_torchscript/addsub.pt', config);
    const values = [Array.from({ length: 16 }, (__, i) => i), Array.from({ length: 16 }, () => -1)];
    const sent = inputs.map((name, i) => fp32(name, [1, 16], ...(values[position[i] ?? 0] ?? [])));
    const results = await served.infer(...sent);
    expect([...results.keys()]).toEqual(outputs);
    const [difference, sum] = [position.indexOf(0), position.indexOf(1)].map((at) => results.get(outputs[at] ?? ''));
    expect(difference && valuesOf(difference)).toEqual(values[0]?.map((value) => value + 1));
    expect(sum && valuesOf(sum)).toEqual(values[0]?.map((value) => value - 1));
  });

  it('logs where inputs go by order, and warns when some are named after arguments', async () => {
    const logger = new CollectingLogger();
    const outputs = ['OUTPUT__0 FP32 2'];
    await (
      await load('backend_torchscript/addsub.pt', inputsAndOutputs(['p FP32 2', 'q FP32 2'], outputs), { logger })
    ).close();
    await (
      await load('backend_torchscript/addsub.pt', inputsAndOutputs(['INPUT1 FP32 2', 'q FP32 2'], outputs), { logger })
    ).close();
    expect(logger.lines).toContain(
      "info: inputs of model 'm' go to forward in the order of the configuration: p → INPUT0, q → INPUT1",
    );
    expect(logger.lines).toContain(
      "warn: some inputs of model 'm' are named after arguments of forward (INPUT1) and some are not, so the order of the configuration " +
        'decides for all: INPUT1 → INPUT0, q → INPUT1',
    );
  });

  it.each([
    [
      'two inputs for one position',
      ['a__0', 'b__0'],
      ['OUTPUT__0'],
      "inputs 'a__0' and 'b__0' both claim position 0 (argument 'INPUT0'); no input claims position 1 (argument 'INPUT1')",
    ],
    [
      'a position that forward lacks',
      ['a__0', 'b__7'],
      ['OUTPUT__0'],
      "input 'b__7' names position 7, which forward does not have; no input claims position 1 (argument 'INPUT1')",
    ],
    [
      'no inputs',
      [],
      ['OUTPUT__0'],
      "unable to load model 'm', configuration expects 0 inputs, model provides 2: forward(INPUT0: Tensor, INPUT1: Tensor)",
    ],
    ['too many inputs', ['a', 'b', 'c'], ['OUTPUT__0'], 'configuration expects 3 inputs, model provides 2'],
    ['no outputs', ['a', 'b'], [], 'model configuration must contain at least one output, none were specified'],
    [
      'an output that forward does not return',
      ['a', 'b'],
      ['OUTPUT__2'],
      "The output OUTPUT__2 in the model configuration refers to an output index which doesn't exist. This model has 2 outputs",
    ],
    [
      'two outputs for one result',
      ['a', 'b'],
      ['x__1', 'y__1'],
      "outputs 'x__1' and 'y__1' both claim result 1 of forward",
    ],
  ])('refuses %s', async (_, inputs, outputs, message) => {
    const spec = (names: readonly string[]) => names.map((name) => `${name} FP32 2`);
    await expect(load('backend_torchscript/addsub.pt', inputsAndOutputs(spec(inputs), spec(outputs)))).rejects.toThrow(
      message,
    );
  });
});

describe('arguments of forward', () => {
  it.each([
    ['an int', 'tensor_and_number', ['x FP32 2', 'n INT64 1'], "An input of type 'int' was detected in the model 'm'"],
    [
      'a dictionary beside others',
      'tensor_and_dict',
      ['x FP32 2', 'o FP32 2'],
      "An input of type 'Dict[str, Tensor]' was detected",
    ],
  ])('refuses %s', async (_, file, inputs, message) => {
    const config = inputsAndOutputs(inputs, ['OUTPUT__0 FP32 2']);
    await expect(load(`backend_torchscript/${file}.pt`, config)).rejects.toThrow(message);
  });

  it('lets trailing arguments with defaults be absent, and takes Optional[Tensor]', async () => {
    await using one = await load(
      'native_torchscript/defaults.pt',
      inputsAndOutputs(['x FP32 2'], ['OUTPUT__0 FP32 2']),
    );
    expect(valuesOf((await one.infer(fp32('x', [2], 1, 2))).get('OUTPUT__0') ?? fp32('', [0]))).toEqual([2, 4]);
    await using two = await load(
      'native_torchscript/defaults.pt',
      inputsAndOutputs(['x FP32 2', 'y FP32 2'], ['OUTPUT__0 FP32 2']),
    );
    const both = await two.infer(fp32('x', [2], 1, 2), fp32('y', [2], 10, 20));
    expect(valuesOf(both.get('OUTPUT__0') ?? fp32('', [0]))).toEqual([11, 22]);
    const three = inputsAndOutputs(['x FP32 2', 'y FP32 2', 'scale INT64 1'], ['OUTPUT__0 FP32 2']);
    await expect(load('native_torchscript/defaults.pt', three)).rejects.toThrow("An input of type 'int' was detected");
  });

  it('maps names to the keys of one dictionary, in and out', async () => {
    const config = {
      maxBatchSize: 4,
      ...inputsAndOutputs(['b FP32 2', 'a FP32 2'], ['difference FP32 2', 'sum FP32 2']),
    };
    await using served = await load('native_torchscript/keyed.pt', config);
    const results = await served.infer(fp32('a', [1, 2], 3, 4), fp32('b', [1, 2], 1, 1));
    expect([...results].map(([name, output]) => [name, valuesOf(output)])).toEqual([
      ['difference', [2, 3]],
      ['sum', [4, 5]],
    ]);
  });

  it('takes dictionaries of strings', async () => {
    await using served = await load(
      'backend_torchscript/words.pt',
      inputsAndOutputs(['a BYTES -1', 'b BYTES -1'], ['count INT64 2']),
    );
    const words = (name: string, ...values: readonly string[]) => tensor({ name, datatype: 'BYTES', values });
    const count = (await served.infer(words('a', 'x', 'y'), words('b'))).get('count');
    expect(count && valuesOf(count)).toEqual([2n, 0n]);
    const numbers = inputsAndOutputs(['a FP32 1', 'b BYTES -1'], ['count INT64 2']);
    await expect(load('backend_torchscript/words.pt', numbers)).rejects.toThrow(
      "input 'a' is TYPE_FP32, but forward takes its inputs in",
    );
  });

  it('names the key that a returned dictionary lacks', async () => {
    await using served = await load(
      'native_torchscript/keyed.pt',
      inputsAndOutputs(['a FP32 1', 'b FP32 1'], ['product FP32 1']),
    );
    expect((await served.failure(fp32('a', [1], 1), fp32('b', [1], 1))).message).toContain("'product'");
  });

  it('evaluates a module that was saved in training mode, and says so', async () => {
    const logger = new CollectingLogger();
    const config = inputsAndOutputs(['x FP32 -1'], ['OUTPUT__0 FP32 -1']);
    await using served = await load('native_torchscript/training.pt', config, { logger });
    const values = Array.from({ length: 64 }, (_, i) => i + 1);
    const output = (await served.infer(fp32('x', [64], ...values))).get('OUTPUT__0');
    expect(output && valuesOf(output)).toEqual(values);
    expect(logger.lines).toContain(
      "warn: model 'm' was saved in training mode; it is switched to evaluation (model.eval())",
    );
  });
});

describe('strings', () => {
  const CONFIG = {
    maxBatchSize: 8,
    input: [{ name: 'words', dataType: 'TYPE_STRING', dims: [1], reshape: { shape: [] } }],
    output: [{ name: 'OUTPUT__0', dataType: 'TYPE_STRING', dims: [1], reshape: { shape: [] } }],
  } as const;

  it('gives each request of a batch its own rows', async () => {
    await using served = await load('backend_torchscript/shouted.pt', CONFIG);
    const batches = [['a'], ['b', 'c\0d', 'é'], ['', 'f']];
    const requests = batches.map((values) =>
      served.request([tensor({ name: 'words', datatype: 'BYTES', shape: [values.length, 1], values })]),
    );
    const results = await served.run(...requests);
    const outputs = results.map((result) => result.get('OUTPUT__0'));
    expect(outputs.map((output) => output?.shape)).toEqual([
      [1, 1],
      [3, 1],
      [2, 1],
    ]);
    expect(outputs.map((output) => output && valuesOf(output))).toEqual(
      batches.map((words) => words.map((word) => `${word}!`)),
    );
  });

  it('returns strings only when they are wanted', async () => {
    const config = {
      maxBatchSize: 4,
      input: [...CONFIG.input, { name: 'factor', dataType: 'TYPE_FP32', dims: [1] }],
      output: [
        { name: 'n', dataType: 'TYPE_FP32', dims: [1] },
        { name: 'w', dataType: 'TYPE_STRING', dims: [1], reshape: { shape: [] } },
      ],
    } as const;
    await using served = await load('backend_torchscript/lengths.pt', config);
    const request = served.request(
      [
        tensor({ name: 'words', datatype: 'BYTES', shape: [2, 1], values: ['ab', 'c'] }),
        fp32('factor', [2, 1], 10, 10),
      ],
      ['n'],
    );
    const [outputs] = await served.run(request);
    expect([...(outputs ?? new Map()).keys()]).toEqual(['n']);
    const lengths = outputs?.get('n');
    expect(lengths && valuesOf(lengths)).toEqual([20, 10]);
  });

  it.each([
    ['too few', [2, 1], ['a']],
    ['too many', [1, 1], ['a', 'b']],
  ])('refuses %s elements, and answers the requests beside it', async (_, shape, values) => {
    await using served = await load('backend_torchscript/shouted.pt', CONFIG);
    const bad = served.request([tensor({ name: 'words', datatype: 'BYTES', shape, values })]);
    const good = served.request([tensor({ name: 'words', datatype: 'BYTES', shape: [1, 1], values: ['z'] })]);
    await served.instance().execute([bad, good]);
    const { error } = await served.responder.finalOf(bad);
    expect(error).toMatchObject({ code: 'INVALID_ARG' });
    expect(error?.message).toContain(`expected ${shape[0]} string elements for input 'words'`);
    const output = (await served.responder.responseOf(good)).outputs[0];
    expect(output && valuesOf(output)).toEqual(['z!']);
  });

  it('refuses a truncated element', async () => {
    await using served = await load('backend_torchscript/shouted.pt', CONFIG);
    const whole = tensor({ name: 'words', datatype: 'BYTES', shape: [1, 1], values: ['abc'] });
    const error = await served.failure({ ...whole, data: whole.data.subarray(0, 5) });
    expect(error).toMatchObject({ code: 'INVALID_ARG', reason: 'request' });
  });

  it.each([
    [
      'more than one dimension',
      { maxBatchSize: 8, ...inputsAndOutputs(['words BYTES 1'], ['OUTPUT__0 BYTES 1']) },
      'only one-dimensional lists of strings',
    ],
    [
      'numbers for List[str]',
      inputsAndOutputs(['words FP32 1'], ['OUTPUT__0 BYTES -1']),
      "argument 'words' of forward is List[str]",
    ],
  ])('refuses %s at load', async (_, config, message) => {
    await expect(load('backend_torchscript/shouted.pt', config)).rejects.toThrow(message);
  });

  it('refuses strings for a tensor at load', async () => {
    const config = inputsAndOutputs(['x BYTES -1'], ['OUTPUT__0 FP32 -1']);
    await expect(load('native_torchscript/identity.pt', config)).rejects.toThrow(
      "input 'x' is TYPE_STRING, but argument 'x' of forward is Tensor",
    );
  });
});
