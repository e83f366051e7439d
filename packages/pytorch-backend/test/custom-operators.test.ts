import { copyFile, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type InstanceSpec, silentLogger } from '@nereid/core';
import { createModelConfig, type Init, type ModelConfig } from '@nereid/model-config';
import { tensor, valuesOf } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadModel, PyTorchBackend, type PyTorchModel } from '../src/index.ts';
import { compileLibrary } from './compile-library.ts';
import { inputsAndOutputs, modelFile, ServedModel } from './served-model.ts';

/** The operator that `backend_torchscript/unknown_operator.pt` calls. */
const PLUS_ONE = `
#include <ATen/ops/add.h>
#include <torch/library.h>
static at::Tensor plus_one(const at::Tensor& x) { return at::add(x, 1); }
TORCH_LIBRARY(nereid_test, m) { m.def("plus_one(Tensor x) -> Tensor", plus_one); }
`;

const CONFIG = inputsAndOutputs(['x FP32 -1'], ['OUTPUT__0 FP32 -1']);
const SPEC: InstanceSpec = { name: 'm_0', kind: 'KIND_CPU', deviceId: 0 };

let directory = '';
let library = '';

/** `<directory>/m/1/model.pt`, beside which the library may lie. */
beforeAll(async () => {
  library = await compileLibrary(PLUS_ONE, { torch: true });
  directory = await mkdtemp(join(tmpdir(), 'nereid-operators-'));
  await mkdir(join(directory, 'm', '1'), { recursive: true });
  await copyFile(modelFile('backend_torchscript/unknown_operator.pt'), join(directory, 'm', '1', 'model.pt'));
}, 300_000);

afterAll(() => rm(directory, { recursive: true }));

function load(config: Init<ModelConfig>, customOps: readonly string[] = []): Promise<PyTorchModel> {
  const modelDirectory = join(directory, 'm');
  return new PyTorchBackend({ cores: 1, customOps }).load({
    name: 'm',
    version: '1',
    modelDirectory,
    versionDirectory: join(modelDirectory, '1'),
    config: createModelConfig({ name: 'm', backend: 'pytorch', ...CONFIG, ...config }),
    instances: [SPEC],
    logger: silentLogger,
  });
}

function parameter(value: string): Init<ModelConfig> {
  return { parameters: new Map([['CUSTOM_OPS_LIBRARIES', { stringValue: value }]]) };
}

// In this order: operators cannot be taken away from a process again.
describe.sequential('operators outside torch', () => {
  it('that are missing are named at load, with the remedies', async () => {
    await expect(load({})).rejects.toThrow(
      "failed to load model 'm': the model calls operator 'nereid_test::plus_one', which this torch does not know. Operators outside torch come in " +
        'a shared library, built against the same torch version: name it in parameter CUSTOM_OPS_LIBRARIES, or start the server with ' +
        '--custom-ops /path/to/that-library.so.',
    );
  });

  it.each([
    ['a relative path that leads out', '../ops.so', "'../ops.so' is not inside the model directory"],
    ['an absolute path that nobody allowed', '/lib/ops.so', 'start the server with --custom-ops /lib/ops.so'],
  ])('are not taken from %s', async (_, name, message) => {
    for (const config of [parameter(name), { modelOperations: { opLibraryFilename: [name] } }]) {
      await expect(load(config)).rejects.toMatchObject({
        code: 'INVALID_ARG',
        message: expect.stringContaining(message),
      });
    }
  });

  it('from a file that is missing or no library fail the load and name it', async () => {
    await writeFile(join(directory, 'm', 'text.so'), 'no library');
    await expect(load(parameter('none.so'))).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringMatching(
        /^failed to load model 'm': the operator library '.*\/m\/none\.so' cannot be used: no such file/,
      ),
    });
    await expect(load(parameter('text.so'))).rejects.toThrow(
      /text\.so' cannot be used: the library cannot be opened: .*(invalid ELF header|file too short)/,
    );
    await expect(load({}, [join(directory, 'none.so')])).rejects.toThrow(
      /^--custom-ops: the operator library '.*none\.so'/,
    );
  });

  it.each([
    ['the parameter', (name: string) => parameter(`1/../${name}:${name}`)],
    ['model_operations', (name: string): Init<ModelConfig> => ({ modelOperations: { opLibraryFilename: [name] } })],
  ])('come from %s, relative to the model directory', async (_, config) => {
    await cp(library, join(directory, 'm', 'ops.so'), { preserveTimestamps: true });
    const model = await load(config('ops.so'));
    await model.close();
  });

  it('of a copy of an open library are those that are there', async () => {
    await cp(library, join(directory, 'm', 'copy.so'));
    const model = await load(parameter('copy.so'), [library]);
    await model.close();
  });

  it('are there for every later model, as often as it is loaded', async () => {
    await using served = await ServedModel.load({ file: join(directory, 'm', '1', 'model.pt'), config: CONFIG });
    const output = (await served.infer(tensor({ name: 'x', values: [1, 2] }))).get('OUTPUT__0');
    expect(output && [...valuesOf(output)]).toEqual([2, 3]);
  });

  it('of a file that was replaced while it is open are refused, as torch takes an operator once', async () => {
    await writeFile(join(directory, 'm', 'ops.so'), 'another file');
    await expect(load(parameter('ops.so'))).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringMatching(/the file was replaced since this process opened it.*Restart the process/),
    });
  });
});

describe('loadModel', () => {
  it('opens the libraries that it is given', async () => {
    await expect(
      loadModel(modelFile('backend_torchscript/addsub.pt'), { customOps: [join(directory, 'none.so')] }),
    ).rejects.toThrow(/none\.so/);
  });
});
