import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tensor, valuesOf } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PyTorchBackendError } from '../src/index.ts';
import { inputsAndOutputs, modelFile, ServedModel, type ServeOptions } from './served-model.ts';

const CONFIG = inputsAndOutputs(['x FP32 -1'], ['OUTPUT__0 FP32 -1']);

let directory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nereid-faults-'));
});

afterAll(() => rm(directory, { recursive: true }));

async function refusal(options: ServeOptions): Promise<PyTorchBackendError> {
  try {
    const served = await ServedModel.load(options);
    await served.close();
  } catch (thrown) {
    if (thrown instanceof PyTorchBackendError) return thrown;
    throw thrown;
  }
  throw new Error('the model loaded');
}

/** A copy of a test model whose bytes were changed. */
async function damaged(name: string, source: string, change: (bytes: Buffer) => Buffer): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, change(await readFile(modelFile(source))));
  return path;
}

describe('a model file', () => {
  it.each([
    ['a state dict', 'archive_files/state_dict.pt', /state dict.*load_state_dict/],
    ['a pickled module', 'archive_files/module.pt', /pickled module of class .*Linear.*torch\.jit\.script/],
    ['an old pickled module', 'archive_files/legacy_module.pt', /pickled module/],
    ['a checkpoint', 'archive_files/checkpoint.pt', /checkpoint/],
    [
      'an exported program that is not compiled',
      'archive_nested/exported.pt2',
      /not compiled yet.*aoti_compile_and_package/,
    ],
  ])('that is %s is refused before torch sees it', async (_, file, message) => {
    const error = await refusal({ file, config: CONFIG });
    expect(error).toMatchObject({ reason: 'file', code: 'INTERNAL' });
    expect(error.message).toMatch(/^failed to load model 'm': /);
    expect(error.message).toMatch(message);
  });

  it.each([
    [
      'cut off',
      (bytes: Buffer) => bytes.subarray(0, bytes.length / 2),
      /zip archive that was cut off.*Copy or download it again/,
    ],
    ['empty', () => Buffer.alloc(0), /empty \(0 bytes\)/],
    [
      'a Git LFS pointer',
      () => Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:0\n'),
      /Git LFS pointer.*git lfs pull/,
    ],
    ['a web page', () => Buffer.from('<!doctype html><html></html>'), /HTML page/],
  ])('that is %s is refused before torch sees it', async (name, change, message) => {
    const file = await damaged(`${name.replaceAll(' ', '_')}.pt`, 'identity/model.pt', change);
    expect((await refusal({ file, config: CONFIG })).message).toMatch(message);
  });

  it('with an operator that torch lacks names it and the remedy', async () => {
    const error = await refusal({ file: 'backend_torchscript/unknown_operator.pt', config: CONFIG });
    expect(error.message).toMatch(/^failed to load model 'm': .*'nereid_test::plus_one'.*--custom-ops/);
    expect(error).toMatchObject({ reason: 'load', cause: { message: expect.stringContaining('Unknown builtin op') } });
  });

  it('without forward is refused', async () => {
    const error = await refusal({ file: 'native_torchscript/no_forward.pt', config: CONFIG });
    expect(error.message).toMatch(/^failed to load model 'm': .*forward/);
  });

  it('for the other platform is refused, with the right one', async () => {
    const torchscript = await refusal({ file: 'identity/model.pt', config: { ...CONFIG, platform: 'torch_aoti' } });
    expect(torchscript.message).toMatch(
      /platform is torch_aoti, but '.*model.pt' is for platform pytorch_libtorch; set platform: "pytorch_libtorch"/,
    );
    const aoti = await refusal({ file: 'backend_aoti/add.pt2', config: { ...CONFIG, platform: 'pytorch_libtorch' } });
    expect(aoti.message).toContain('set platform: "torch_aoti"');
  });

  it('that is missing is reported with what is there', async () => {
    const error = await refusal({ file: 'archive_nested/x.pt', config: CONFIG });
    expect(error).toMatchObject({ code: 'UNAVAILABLE', reason: 'file' });
    expect(error.message).toMatch(
      /unable to find '.*x\.pt' for model 'm'; the directory holds .*model\.pt2.*default_model_filename/,
    );
  });

  it.each(['../addsub/model.pt', '/etc/hostname', '.', '..'])(
    'named %s does not leave the version directory',
    async (name) => {
      const error = await refusal({ file: 'identity/model.pt', config: { ...CONFIG, defaultModelFilename: name } });
      expect(error).toMatchObject({ code: 'INVALID_ARG', reason: 'file' });
      expect(error.message).toContain(`default_model_filename is '${name}', which is not inside the version directory`);
    },
  );

  it('has the default name of its platform', async () => {
    const config = { ...CONFIG, platform: 'pytorch_libtorch', defaultModelFilename: '' };
    await using served = await ServedModel.load({ file: 'identity/model.pt', config });
    const output = (await served.infer(tensor({ name: 'x', values: [7] }))).get('OUTPUT__0');
    expect(output && valuesOf(output)).toEqual([7]);
  });
});

const CUT = { targetName: ['OUTPUT__0'], kind: 'BATCH_SCATTER_WITH_INPUT_SHAPE', sourceInput: ['x'] } as const;

describe('a configuration', () => {
  it.each([
    [
      'batch inputs that no argument takes',
      { batchInput: [{ kind: 'BATCH_ELEMENT_COUNT', targetName: ['n'], dataType: 'TYPE_FP32', sourceInput: ['x'] }] },
      'INVALID_ARG',
      'configuration expects 2 inputs, model provides 1',
    ],
    [
      'batch inputs of an optional input',
      {
        input: [{ name: 'x', dataType: 'TYPE_FP32', dims: [-1], optional: true }],
        batchInput: [{ kind: 'BATCH_ELEMENT_COUNT', targetName: ['n'], dataType: 'TYPE_FP32', sourceInput: ['x'] }],
      },
      'UNSUPPORTED',
      "'x' is the source_input of a batch_input or batch_output and optional",
    ],
    ['two ways to cut an output', { batchOutput: [CUT, CUT] }, 'UNSUPPORTED', "two batch_output for 'OUTPUT__0'"],
    ['a Python runtime', { runtime: 'model.py' }, 'UNSUPPORTED', 'a Python runtime'],
    [
      'a parameter that does not parse',
      { parameters: new Map([['INFERENCE_MODE', { stringValue: 'maybe' }]]) },
      'INVALID_ARG',
      "parameter 'INFERENCE_MODE' is 'maybe'",
    ],
    [
      'no datatype',
      { input: [{ name: 'x', dataType: 'TYPE_INVALID', dims: [1] }] },
      'INTERNAL',
      "unsupported datatype TYPE_INVALID for input 'x'",
    ],
  ] as const)('with %s is refused', async (_, config, code, message) => {
    const error = await refusal({ file: 'identity/model.pt', config: { ...CONFIG, maxBatchSize: 4, ...config } });
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });

  it('with several such things is refused with all of them', async () => {
    const config = { ...CONFIG, batchOutput: [CUT, CUT], runtime: 'model.py' };
    const error = await refusal({ file: 'identity/model.pt', config });
    expect(error.message).toMatch(/a Python runtime.*; two batch_output/);
  });

  it('for a GPU is refused by an addon for the CPU', async () => {
    const error = await refusal({ file: 'identity/model.pt', config: CONFIG, kind: 'KIND_GPU' });
    expect(error).toMatchObject({ code: 'UNSUPPORTED', reason: 'platform' });
    expect(error.message).toMatch(/instance 'm_0' is KIND_GPU.*for CPU.*Use KIND_CPU/);
  });

  it('may leave the placement to the model', async () => {
    await using served = await ServedModel.load({ file: 'identity/model.pt', config: CONFIG, kind: 'KIND_MODEL' });
    const output = (await served.infer(tensor({ name: 'x', values: [7] }))).get('OUTPUT__0');
    expect(output && valuesOf(output)).toEqual([7]);
  });
});

describe('a request', () => {
  const x = tensor({ name: 'x', shape: [1, 2], values: [1, 2] });

  it.each([
    ['without an input', [], "input 'x' is missing; the model takes 'x' FP32 [-1,2]"],
    ['with an unknown input', [x, { ...x, name: 'y' }], "input 'y' is unknown or given twice"],
    ['with an input twice', [x, x], "input 'x' is unknown or given twice"],
    ['of another datatype', [{ ...x, datatype: 'INT32' as const }], "input 'x' INT32 [1,2]: the model takes FP32"],
    ['of another shape', [{ ...x, shape: [1, 3] }], "unexpected shape for input 'x': expected [-1,2], got [1,3]"],
    ['with too few bytes', [{ ...x, data: x.data.subarray(1) }], "input 'x' FP32 [1,2] needs 8 bytes, got 7"],
  ])('%s is refused alone', async (_, inputs, message) => {
    const config = { maxBatchSize: 4, ...inputsAndOutputs(['x FP32 2'], ['OUTPUT__0 FP32 2']) };
    await using served = await ServedModel.load({ file: 'identity/model.pt', config });
    const [bad, good] = [served.request(inputs), served.request([x])];
    await served.instance().execute([bad, good]);
    const { error } = await served.responder.finalOf(bad);
    expect(error).toMatchObject({ code: 'INVALID_ARG', reason: 'request' });
    expect(error?.message).toContain(message);
    expect((await served.responder.responseOf(good)).outputs[0]?.data).toEqual(x.data);
    expect(served.reports.map(({ requests, batchSize }) => [requests, batchSize])).toEqual([[[good], 1]]);
  });

  it('that makes forward raise fails with the Python message and place, and the next one runs', async () => {
    await using served = await ServedModel.load({ file: 'native_torchscript/positive.pt', config: CONFIG });
    const error = await served.failure(tensor({ name: 'x', values: [-1] }));
    expect(error.message).toMatch(
      /^PyTorch execute failure: ValueError: negative input; at native_torchscript\.py:\d+, in forward: raise/,
    );
    expect(error).toMatchObject({ code: 'INTERNAL', reason: 'execution' });
    expect(error.cause).toMatchObject({ message: expect.stringContaining('Traceback of TorchScript') });
    expect(served.reports).toEqual([]);
    const output = (await served.infer(tensor({ name: 'x', values: [3] }))).get('OUTPUT__0');
    expect(output && valuesOf(output)).toEqual([3]);
  });
});
