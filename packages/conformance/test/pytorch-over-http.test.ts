/** What the suites of the original read from a running server and its log. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileLibrary } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConfigText, configText } from '../src/config-text.ts';
import { writeModelTree } from '../src/model-tree.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const repository = mkdtempSync(join(tmpdir(), 'nereid-pytorch-'));
const library = join(repository, 'hook.so');
let server: NereidProcess;

const IDENTITY = 'identity/model.pt';
const ONE = { maxBatchSize: 0, input: ['x TYPE_FP32 1 1'], output: ['OUTPUT__0 TYPE_FP32 1 1'] } satisfies ConfigText;
const NOT_COMPILED = String.raw`{\"disable\": true}`;

const MODELS: Readonly<Record<string, readonly [file: string, config: ConfigText]>> = {
  right: [IDENTITY, ONE],
  wrong_type: [IDENTITY, { ...ONE, output: ['OUTPUT__0 TYPE_INT32 1 1'] }],
  wrong_index: [IDENTITY, { ...ONE, output: ['OUTPUT__1 TYPE_FP32 1 1'] }],
  wrong_index_of_a_list: ['native_torchscript/tensors.pt', { ...ONE, output: ['OUTPUT__3 TYPE_FP32 1 1'] }],
  placed: [
    'qa_torchscript/placed.pt',
    {
      input: ['INPUT0 TYPE_FP32 -1 16', 'INPUT1 TYPE_FP32 -1 16'],
      output: ['OUTPUT__0 TYPE_FP32 4', 'OUTPUT__1 TYPE_FP32 4'],
      more: 'instance_group { count: 1 kind: KIND_MODEL }',
    },
  ],
  settings: [
    IDENTITY,
    {
      ...ONE,
      parameters: {
        DISABLE_OPTIMIZED_EXECUTION: 'true',
        ENABLE_CACHE_CLEANING: 'true',
        INFERENCE_MODE: 'false',
        DISABLE_CUDNN: 'true',
        ENABLE_WEIGHT_SHARING: 'true',
      },
      more: 'instance_group { count: 3 kind: KIND_CPU }',
    },
  ],
  hooked: [IDENTITY, { ...ONE, parameters: { MODEL_INIT_LIBRARY: library } }],
  python: [
    'python_runtime/neuralnet/1/model.py',
    {
      platform: null,
      maxBatchSize: 8,
      input: ['x TYPE_FP32 4'],
      output: ['y TYPE_FP32 3'],
      parameters: { TORCH_COMPILE_OPTIONAL_PARAMETERS: NOT_COMPILED },
      more: 'backend: "pytorch"\nruntime: "model.py"',
    },
  ],
  python_torchscript: [
    'python_runtime/torchscript/1/model.pt',
    {
      platform: null,
      input: ['a TYPE_FP32 4', 'b TYPE_FP32 4'],
      output: ['sum TYPE_FP32 4', 'diff TYPE_FP32 4'],
      parameters: { NUM_THREADS: '4', NUM_INTEROP_THREADS: '2' },
      more: 'backend: "pytorch"\nruntime: "model.py"\ninstance_group { count: 1 kind: KIND_MODEL }',
    },
  ],
};

/** Leaves a line in `calls.txt` of the version directory for each call. */
const HOOK = `
#include <stdio.h>
static FILE* calls(const char* directory) {
  static char path[4096];
  if (directory) snprintf(path, sizeof path, "%s/calls.txt", directory);
  return fopen(path, "a");
}
extern "C" void* triton_pytorch_model_init(const char* directory, int device) {
  FILE* out = calls(directory);
  fprintf(out, "init %d\\n", device);
  fclose(out);
  return 0;
}
extern "C" void triton_pytorch_model_fini(void* state) {
  FILE* out = calls(0);
  fputs("fini\\n", out);
  fclose(out);
}
`;

beforeAll(async () => {
  copyFileSync(await compileLibrary(HOOK), library);
  const models = join(repository, 'models');
  mkdirSync(models);
  for (const [name, [file, config]] of Object.entries(MODELS)) {
    writeModelTree(models, { name, config: configText(config), versions: { 1: file } });
  }
  server = await startNereid([models]);
}, 120_000);
afterAll(async () => {
  await server?.stop();
  rmSync(repository, { recursive: true });
});

async function infer(model: string, data: Readonly<Record<string, readonly number[]>>) {
  const inputs = Object.entries(data).map(([name, values]) => ({
    name,
    datatype: 'FP32',
    shape: [1, values.length],
    data: values,
  }));
  const response = await fetch(`${server.url}/v2/models/${model}/infer`, {
    method: 'POST',
    body: JSON.stringify({ inputs }),
  });
  const answer = (await response.json()) as {
    outputs?: readonly { data: number[]; shape: number[] }[];
    error?: string;
  };
  return { status: response.status, ...answer };
}

const isReady = async (model: string) => (await fetch(`${server.url}/v2/models/${model}/ready`)).status === 200;

describe('outputs are held against the configuration', () => {
  test('one that fits is ready and answers', async () => {
    expect(await isReady('right')).toBe(true);
    expect(await infer('right', { x: [7] })).toMatchObject({ status: 200, outputs: [{ data: [7] }] });
  });

  test('one of another datatype is an error that begins with both', async () => {
    const { status, error } = await infer('wrong_type', { x: [7] });
    expect(status).toBe(400);
    expect(error).toMatch(
      /^configuration expects datatype TYPE_INT32 for output 'OUTPUT__0', model provides TYPE_FP32/,
    );
  });

  test('an index beyond those of a list is an error that begins with the name and how many there are', async () => {
    const { status, error } = await infer('wrong_index_of_a_list', { x: [7] });
    expect(status).toBe(400);
    expect(error).toMatch(
      /^The output OUTPUT__3 in the model configuration refers to an output index which doesn't exist\. This model has 3 outputs/,
    );
  });

  test('an index beyond those that the file states keeps the model from loading, with the same words', async () => {
    expect(await isReady('wrong_index')).toBe(false);
    expect(server.output()).toContain(
      "The output OUTPUT__1 in the model configuration refers to an output index which doesn't exist. This model has 1 outputs",
    );
  });
});

test('a module on KIND_MODEL moves its inputs itself, prints where they came, and may return other dims than configured', async () => {
  const INPUT0 = Array.from({ length: 16 }, (_, i) => i);
  const answer = await infer('placed', { INPUT0, INPUT1: INPUT0.map(() => -1) });
  expect(answer.outputs).toMatchObject([
    { shape: [1, 16], data: INPUT0.map((value) => value + 1) },
    { shape: [1, 16], data: INPUT0.map((value) => value - 1) },
  ]);
  await expect.poll(() => server.output()).toContain('INPUT0 came on cpu and INPUT1 on cpu');
});

describe('lines that users of the original look for keep their wording', () => {
  test.each([
    ["Optimized execution is disabled for model instance 'settings'", 1],
    ["Optimized execution is enabled for model instance 'right'", 1],
    ["Cache Cleaning is enabled for model instance 'settings'", 1],
    ["Cache Cleaning is disabled for model instance 'right'", 1],
    ["Inference Mode is disabled for model instance 'settings'", 1],
    ["Inference Mode is enabled for model instance 'right'", 1],
    ["cuDNN is disabled for model instance 'settings'", 1],
    ["cuDNN is enabled for model instance 'right'", 1],
    ["Reusing TorchScript model for instance 'settings_0_", 2],
    [`model init hook of '${library}' ran for model 'hooked' with device_index=-1`, 1],
    ["Torch parallelism settings for 'python': NUM_THREADS = 1; NUM_INTEROP_THREADS = 1;", 1],
    ["'torch.compile' optional parameter(s) for 'python': {'disable': True}", 1],
    ["Loading 'python_torchscript' as TorchScript", 1],
    ["Torch parallelism settings for 'python_torchscript': NUM_THREADS = 4; NUM_INTEROP_THREADS = 2;", 1],
    ["'torch.compile' optional parameter(s) for 'python_torchscript': {}", 1],
    ["Loading 'python' as TorchScript", 0],
  ])('%s (%i times)', (line, count) => {
    expect(server.output().split(line)).toHaveLength(count + 1);
  });
});

test('a model of Python source leaves default_model_filename open, and a TorchScript file runs in its runtime', async () => {
  const config = await (await fetch(`${server.url}/v2/models/python/config`)).json();
  expect(config).toMatchObject({ runtime: 'model.py', default_model_filename: '' });
  expect((await infer('python', { x: [1, 2, 3, 4] })).outputs).toMatchObject([{ shape: [1, 3] }]);
  expect(await isReady('python_torchscript')).toBe(true);
});

test('a model that was set up by a library is taken down when the server ends, once', async () => {
  expect(await isReady('hooked')).toBe(true);
  expect(await server.stop()).toBe(0);
  const calls = readFileSync(join(repository, 'models', 'hooked', '1', 'calls.txt'), 'utf8');
  expect(calls).toBe('init -1\nfini\n');
});
