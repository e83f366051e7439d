import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tensor, testModel, valuesOf } from '@nereid/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { locateModelFile } from '../src/locate-model-file.ts';
import { CollectingLogger } from './collecting-logger.ts';
import { inputsAndOutputs, loadFailure, row, ServedModel } from './served-model.ts';

const directory = mkdtempSync(join(tmpdir(), 'nereid-load-'));
afterAll(() => rmSync(directory, { recursive: true }));

const VECTORS = inputsAndOutputs(['a FP32 4', 'b FP32 4'], ['sum FP32 4', 'diff FP32 4']);
const NEURALNET = { maxBatchSize: 8, ...inputsAndOutputs(['x FP32 4'], ['y FP32 3']) };
const X_TO_Y = inputsAndOutputs(['x FP32 -1 -1'], ['y FP32 -1 -1']);

const testFile = (model: string, file = 'model.py') => join(testModel('python_runtime'), model, '1', file);

/** A version directory with these files. */
function versionWith(name: string, files: Readonly<Record<string, string>>): string {
  const version = join(directory, name, '1');
  mkdirSync(version, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(version, file), text);
  return version;
}

function modelPy(name: string, ...lines: readonly string[]): string {
  return join(versionWith(name, { 'model.py': ['import torch', ...lines, ''].join('\n') }), 'model.py');
}

const FORWARD = '    def forward(self, x): return x';

describe('the model file', () => {
  it.each([
    { files: ['model.py', 'model.pt'], filename: '', found: 'model.py' },
    { files: ['model.py', 'model.pt'], filename: 'model.pt', found: 'model.pt' },
    { files: ['model.pt'], filename: '', found: 'model.pt' },
    { files: ['model.py', 'other.py'], filename: 'other.py', found: 'other.py' },
    { files: ['model.py'], filename: 'other.py', found: 'model.py' },
  ])('is $found among $files when default_model_filename is "$filename"', async ({ files, filename, found }) => {
    const versionDirectory = versionWith(
      `${files.join()}-${filename}`,
      Object.fromEntries(files.map((file) => [file, ''])),
    );
    expect(await locateModelFile({ modelName: 'm', versionDirectory, filename })).toBe(join(versionDirectory, found));
  });

  it('is missing with a message that names what was tried and what is there', async () => {
    const versionDirectory = versionWith('none', { 'model.onnx': '' });
    mkdirSync(join(versionDirectory, 'model.py'));
    await expect(locateModelFile({ modelName: 'm', versionDirectory, filename: 'net.py' })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      reason: 'file',
      message: `model 'm': '${versionDirectory}' has none of 'net.py', 'model.py', 'model.pt'; it holds model.onnx, model.py`,
    });
  });

  it('must lie inside the version directory', async () => {
    await expect(
      locateModelFile({ modelName: 'm', versionDirectory: directory, filename: '../model.py' }),
    ).rejects.toMatchObject({
      code: 'INVALID_ARG',
      message: `model 'm': default_model_filename is '../model.py', which is not inside the version directory '${directory}'`,
    });
  });
});

describe('a model', () => {
  it('without weights adds and subtracts vectors of four', async () => {
    await using model = await ServedModel.load({ file: 'addsub.py', config: VECTORS });
    const outputs = await model.infer(
      tensor({ name: 'a', values: [1, 2, 3, 4] }),
      tensor({ name: 'b', values: [4, 3, 2, 1] }),
    );
    expect([...outputs].map(([name, output]) => [name, valuesOf(output)])).toEqual([
      ['sum', [5, 5, 5, 5]],
      ['diff', [-3, -1, 1, 3]],
    ]);
  });

  it('with weights serves a batch of four, and eight single requests as one call', async () => {
    const logger = new CollectingLogger();
    const parameters = { NUM_THREADS: '4', NUM_INTEROP_THREADS: '2' };
    await using model = await ServedModel.load({ file: testFile('neuralnet'), config: NEURALNET, parameters, logger });
    const values = [0, 1, 0, 0, 2, 0, -1, 0, 0, 0, 3, 1, 1, 1, 1, 1];
    const four = (await model.infer(tensor({ name: 'x', shape: [4, 4], values }))).get('y');
    expect(four).toMatchObject({ datatype: 'FP32', shape: [4, 3] });
    const expected = rows(four ? valuesOf(four).map(Number) : [], 3);
    // The first row by hand: relu(W1 e2 + b1), then W2 and b2; dropout is off.
    expect(expected[0]?.map((value) => value.toFixed(4))).toEqual(
      neuralnet([0, 1, 0, 0]).map((value) => value.toFixed(4)),
    );
    const singles = [0, 1, 2, 3, 0, 1, 2, 3].map((i) => model.request([row(...values.slice(4 * i, 4 * i + 4))]));
    const results = await model.run(...singles);
    expect(results.map((outputs) => valuesOf(outputs.get('y') ?? row()))).toEqual([...expected, ...expected]);
    expect(model.reports.map(({ batchSize }) => batchSize)).toEqual([4, 8]);
    expect(logger.lines).toContain(
      "info: Torch parallelism settings for 'm': NUM_THREADS = 4; NUM_INTEROP_THREADS = 2;",
    );
    expect(logger.lines.filter((line) => line.includes('as TorchScript'))).toEqual([]);
  });

  it('that is a TorchScript file runs on the device of its parameters, and is not compiled', async () => {
    const logger = new CollectingLogger();
    await using model = await ServedModel.load({
      file: testFile('torchscript', 'model.pt'),
      config: { ...VECTORS, defaultModelFilename: '' },
      parameters: { TORCH_COMPILE_OPTIONAL_PARAMETERS: '{"dynamic": true}' },
      kind: 'KIND_MODEL',
      logger,
    });
    const b = tensor({ name: 'b', values: [4, 3, 2, 1] });
    const outputs = await model.infer(tensor({ name: 'a', values: [1, 2, 3, 4] }), b);
    expect(valuesOf(outputs.get('sum') ?? b)).toEqual([5, 5, 5, 5]);
    expect(logger.lines).toContain("info: Loading 'm' as TorchScript");
    expect(logger.lines).toContain("info: 'torch.compile' optional parameter(s) for 'm': {}");
  });

  it('is compiled as the parameter says, and may use what lies beside its file', async () => {
    const version = versionWith('compiled', {
      'helper.py': 'FACTOR = 3\n',
      'model.py': [
        'import torch',
        'from helper import FACTOR',
        'class Helper(torch.nn.Module):',
        FORWARD,
        'class Triple(torch.nn.Module):',
        '    def forward(self, x): return FACTOR * x + (1 if torch.compiler.is_compiling() else 0)',
        '',
      ].join('\n'),
    });
    const logger = new CollectingLogger();
    await using model = await ServedModel.load({
      file: join(version, 'model.py'),
      config: { ...X_TO_Y, defaultModelFilename: '' },
      parameters: {
        MODEL_CLASS: 'Triple',
        TORCH_COMPILE_OPTIONAL_PARAMETERS: '{"backend": "eager", "fullgraph": true}',
      },
      logger,
    });
    const y = (await model.infer(row(1, 2))).get('y');
    expect(y && valuesOf(y)).toEqual([4, 7]);
    expect(logger.lines).toContain(
      "info: 'torch.compile' optional parameter(s) for 'm': {'backend': 'eager', 'fullgraph': True}",
    );
  });

  it('has its tensors in the shapes that reshape gives', async () => {
    await using model = await ServedModel.load({
      file: 'identity.py',
      config: {
        maxBatchSize: 4,
        input: [{ name: 'x', dataType: 'TYPE_FP32', dims: [4], reshape: { shape: [2, 2] } }],
        output: [{ name: 'y', dataType: 'TYPE_FP32', dims: [1, 4], reshape: { shape: [2, 2] } }],
      },
    });
    expect((await model.infer(row(1, 2, 3, 4))).get('y')).toMatchObject({ shape: [1, 1, 4] });
  });
});

describe('a model that cannot be made fails its load', () => {
  const file = (name: string, ...lines: readonly string[]) => modelPy(name, ...lines);

  it.each([
    {
      what: 'no class of its own',
      file: file('no-class', 'from torch.nn import Linear'),
      message: "Cannot find a subclass of torch.nn.Module in 'model.py'; define the model's class in that file",
    },
    {
      what: 'several classes',
      file: file('several', 'class B(torch.nn.Module):', FORWARD, 'class A(torch.nn.Module):', FORWARD),
      message:
        "the file defines 2 subclasses of torch.nn.Module: 'A', 'B'; set parameter MODEL_CLASS to the one to serve",
    },
    {
      what: 'another class than the one asked for',
      file: file('other', 'class A(torch.nn.Module):', FORWARD),
      parameters: { MODEL_CLASS: 'torch' },
      message:
        "parameter MODEL_CLASS is 'torch', which is no subclass of torch.nn.Module in 'model.py'; the file defines 1 subclasses of torch.nn.Module: 'A'",
    },
    {
      what: 'an import that is not there',
      file: file('import', 'import no_such_module'),
      message:
        "its code failed: ModuleNotFoundError: No module named 'no_such_module'\n  at model.py:2, in <module>: import no_such_module",
    },
    {
      what: 'a constructor that takes arguments',
      file: file('arguments', 'class A(torch.nn.Module):', '    def __init__(self, size): super().__init__()', FORWARD),
      message: "its code failed: TypeError: A.__init__() missing 1 required positional argument: 'size'",
    },
    {
      what: 'weights of other shapes',
      file: testFile('misfit'),
      message:
        "the weights in 'model.pt' do not fit the model: Error(s) in loading state_dict for NeuralNet:\n" +
        '\tsize mismatch for layers.3.bias: copying a param with shape torch.Size([4]) from checkpoint, the shape in current model is torch.Size([3]).',
    },
    {
      what: 'keywords that torch.compile does not have',
      file: file('keyword', 'class A(torch.nn.Module):', FORWARD),
      parameters: { TORCH_COMPILE_OPTIONAL_PARAMETERS: '{"speed": 1}' },
      message: "its code failed: TypeError: compile() got an unexpected keyword argument 'speed'",
    },
  ])('with $what', async ({ file: path, message, parameters = {} }) => {
    const error = await loadFailure({ file: path, config: X_TO_Y, parameters });
    expect(error).toMatchObject({ reason: 'load', message: `failed to load model 'm': ${message}` });
  });

  it('with a pickled module instead of weights, which would be code', async () => {
    const { message } = await loadFailure({ file: testFile('pickled'), config: X_TO_Y });
    expect(message).toMatch(
      /'model\.pt' cannot be read as weights: .* Save them with torch\.save\(model\.state_dict\(\), …\)\.$/s,
    );
  });

  it('without parameters on KIND_MODEL, whose device they would tell', async () => {
    const { message } = await loadFailure({ file: 'addsub.py', config: VECTORS, kind: 'KIND_MODEL' });
    expect(message).toContain('Cannot determine model device');
  });

  it('on KIND_GPU where torch sees none', async () => {
    const { message } = await loadFailure({ file: 'addsub.py', config: VECTORS, kind: 'KIND_GPU' });
    expect(message).toMatch(/the instance is KIND_GPU, but torch \S+ of \S+ sees no GPU; use KIND_CPU$/);
  });

  it('when it ends the process while it is made, with what it printed last', async () => {
    const path = file('exit', 'import os, sys', "print('no licence', file=sys.stderr)", 'os._exit(4)');
    expect(await loadFailure({ file: path, config: X_TO_Y })).toMatchObject({
      code: 'UNAVAILABLE',
      reason: 'start',
      message:
        "model 'm': the Python process of instance 'm_0' ended with exit code 4 before it was ready; its last lines:\n  no licence",
    });
  });

  it('when it takes too long', async () => {
    const path = file('slow', 'import time', 'time.sleep(600)');
    const backend = { process: { supervisor: { startTimeoutMs: 500 } } };
    expect(await loadFailure({ file: path, config: X_TO_Y, backend })).toMatchObject({
      reason: 'start',
      message: "model 'm': the Python process of instance 'm_0' was not ready within 0.5 s and was killed",
    });
  });
});

function rows(values: readonly number[], width: number): number[][] {
  return Array.from({ length: values.length / width }, (_, i) => values.slice(i * width, (i + 1) * width));
}

/** What the exported weights give: each parameter counts 0, 1, 2 … in row-major order, as (k mod 5 − 2) / 4. */
function neuralnet(x: readonly number[]): number[] {
  const hidden = linear(x, 8).map((value) => Math.max(value, 0));
  return linear(hidden, 3);
}

function linear(x: readonly number[], size: number): number[] {
  const parameter = (k: number) => ((k % 5) - 2) / 4;
  return Array.from({ length: size }, (_, i) =>
    x.reduce((sum, value, k) => sum + value * parameter(i * x.length + k), parameter(i)),
  );
}
