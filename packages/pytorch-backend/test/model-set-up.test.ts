import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Init, ModelConfig } from '@nereid/model-config';
import { tensor, valuesOf } from '@nereid/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CollectingLogger } from './collecting-logger.ts';
import { compileLibrary } from './compile-library.ts';
import { inputsAndOutputs, modelFile, ServedModel } from './served-model.ts';

/** Appends each call to `calls.txt` of the model directory, and whether a compiled package is in memory then. */
const RECORDER = `
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
static std::string file;
static bool packageIsMapped() {
  FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[4096];
  bool found = false;
  while (std::fgets(line, sizeof line, maps)) found = found || std::strstr(line, "nereid-package");
  std::fclose(maps);
  return found;
}
static void record(const std::string& what) {
  FILE* out = std::fopen(file.c_str(), "a");
  std::fprintf(out, "%s%s\\n", what.c_str(), packageIsMapped() ? ", package open" : "");
  std::fclose(out);
}
static void* recordInit(const char* directory, int device) {
  file = std::string(directory) + "/calls.txt";
  record("init " + std::to_string(device));
  return &file;
}
static void recordFini(const char* name, void* state) {
  record(std::string(name) + (state == &file ? " with the state" : state == nullptr ? " with null" : " with something else"));
}
`;

const INIT = 'extern "C" void* triton_pytorch_model_init(const char* directory, int device)';
const RETURNS_STATE = `${INIT} { return recordInit(directory, device); }`;
const FINI = 'extern "C" void triton_pytorch_model_fini(void* state) { recordFini("fini", state); }';

const TORCHSCRIPT = { file: 'identity/model.pt', config: inputsAndOutputs(['x FP32 -1'], ['OUTPUT__0 FP32 -1']) };
const AOTI = {
  file: 'backend_aoti/add.pt2',
  config: inputsAndOutputs(['INPUT__0 FP32 -1 -1', 'INPUT__1 FP32 -1 -1'], ['OUTPUT__0 FP32 -1 -1']),
};

let modelDirectory = '';
/** Of the version. */
let directory = '';

beforeEach(async () => {
  modelDirectory = await mkdtemp(join(tmpdir(), 'nereid-set-up-'));
  directory = join(modelDirectory, '1');
  await mkdir(directory);
});

afterEach(() => rm(modelDirectory, { recursive: true }));

async function calls(): Promise<readonly string[]> {
  const text = await readFile(join(directory, 'calls.txt'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

interface Loading {
  readonly model?: { readonly file: string; readonly config: Init<ModelConfig> };
  readonly instances?: number;
  readonly logger?: CollectingLogger;
  readonly config?: Init<ModelConfig>;
}

/** Loads a copy of the model in a directory of its own, with the library. */
async function load(library: string, { model = AOTI, config, ...rest }: Loading = {}): Promise<ServedModel> {
  const file = join(directory, model.file.endsWith('.pt') ? 'model.pt' : 'model.pt2');
  await copyFile(modelFile(model.file), file);
  const parameters = new Map([['MODEL_INIT_LIBRARY', { stringValue: library }]]);
  return ServedModel.load({ ...rest, file, config: { ...model.config, ...config, parameters } });
}

const recorder = (...functions: readonly string[]) => compileLibrary([RECORDER, ...functions].join('\n'));

describe('MODEL_INIT_LIBRARY', () => {
  it.each([1, 3])(
    'is set up once before the package is opened, for %i instances, and taken down once after',
    async (instances) => {
      const logger = new CollectingLogger();
      const library = await recorder(RETURNS_STATE, FINI);
      const served = await load(library, { instances, logger });
      expect(await calls()).toEqual(['init -1']);
      expect(logger.lines).toContain(`info: model init hook of '${library}' ran for model 'm' with device_index=-1`);
      const inputs = ['INPUT__0', 'INPUT__1'].map((name) => tensor({ name, shape: [1, 1], values: [2] }));
      const output = (await served.infer(...inputs)).get('OUTPUT__0');
      expect(output && [...valuesOf(output)]).toEqual([4]);
      expect(await calls()).toEqual(['init -1']);
      await served.close();
      await served.model.close();
      expect(await calls()).toEqual(['init -1', 'fini with the state']);
    },
  );

  it('serves modules too', async () => {
    const served = await load(await recorder(RETURNS_STATE, FINI), { model: TORCHSCRIPT, instances: 2 });
    await served.close();
    expect(await calls()).toEqual(['init -1', 'fini with the state']);
  });

  it('is set up again when the version is loaded again', async () => {
    const library = await recorder(RETURNS_STATE, FINI);
    for (let time = 0; time < 3; time++) await (await load(library)).close();
    expect(await calls()).toEqual(Array.from({ length: 3 }, () => ['init -1', 'fini with the state']).flat());
  });

  it.each([
    ['another output', { output: [{ name: 'OUTPUT__7', dataType: 'TYPE_FP32', dims: [-1, -1] }] }, 'OUTPUT__7'],
    [
      'a larger batch',
      { maxBatchSize: 64, input: AOTI.config.input?.map((input) => ({ ...input, dims: [-1] })) ?? [] },
      'max_batch_size is 64',
    ],
  ] as const)('is taken down once when the load then fails for %s', async (_, config, message) => {
    await expect(load(await recorder(RETURNS_STATE, FINI), { config })).rejects.toThrow(message);
    expect(await calls()).toEqual(['init -1', 'fini with the state']);
  });

  it('may return null, which is passed on', async () => {
    await (await load(await recorder(`${INIT} { recordInit(directory, device); return nullptr; }`, FINI))).close();
    expect(await calls()).toEqual(['init -1', 'fini with null']);
  });

  it('need not have a finaliser', async () => {
    await (await load(await recorder(RETURNS_STATE))).close();
    expect(await calls()).toEqual(['init -1']);
  });

  const RELEASE = 'extern "C" void triton_pytorch_model_release(void* state) { recordFini("release", state); }';

  it('may call its finaliser by the old name, which gives way to the new one', async () => {
    await (await load(await recorder(RETURNS_STATE, RELEASE))).close();
    expect(await calls()).toEqual(['init -1', 'release with the state']);
    await (await load(await recorder(RETURNS_STATE, RELEASE, FINI))).close();
    expect((await calls()).slice(2)).toEqual(['init -1', 'fini with the state']);
  });

  it.each([
    ['an exception', 'throw std::runtime_error("no weights here")', 'triton_pytorch_model_init threw: no weights here'],
    [
      'something else',
      'throw 7',
      'triton_pytorch_model_init threw: the model threw something that is not a C++ exception',
    ],
  ])('that throws %s fails the load, and is not taken down', async (_, statement, message) => {
    const library = await recorder(`${INIT} { recordInit(directory, device); ${statement}; }`, FINI);
    await expect(load(library)).rejects.toMatchObject({
      reason: 'load',
      code: 'INTERNAL',
      message: `failed to load model 'm': ${message}`,
    });
    expect(await calls()).toEqual(['init -1']);
    await (await load(await recorder(RETURNS_STATE, FINI))).close();
  });

  it('whose finaliser throws is logged, and the model is closed', async () => {
    const logger = new CollectingLogger();
    const fini = 'extern "C" void triton_pytorch_model_fini(void*) { throw std::runtime_error("stuck"); }';
    const library = await recorder(RETURNS_STATE, fini);
    await (await load(library, { logger })).close();
    expect(logger.lines).toContain(`error: model 'm', '${library}': the library's finaliser threw: stuck`);
  });

  it('without init fails the load', async () => {
    const library = await recorder(FINI);
    await expect(load(library)).rejects.toMatchObject({
      reason: 'load',
      message: `failed to load model 'm': the library has no function triton_pytorch_model_init: ${library}`,
    });
    expect(await calls()).toEqual([]);
  });

  it('that is missing or no library fails the load', async () => {
    await expect(load(join(directory, 'none.so'))).rejects.toMatchObject({ reason: 'load', code: 'NOT_FOUND' });
    const text = join(directory, 'text.so');
    await copyFile(modelFile(TORCHSCRIPT.file), text);
    await expect(load(text)).rejects.toThrow(/^failed to load model 'm': the library cannot be opened: .*text\.so/);
  });

  it('may lie in the model directory, wherever that is', async () => {
    await copyFile(await recorder(RETURNS_STATE, FINI), join(modelDirectory, 'init.so'));
    await (await load('$$TRITON_MODEL_DIRECTORY/init.so')).close();
    expect(await calls()).toEqual(['init -1', 'fini with the state']);
  });

  it.each(['init.so', '../init.so', '$$TRITON_MODEL_DIRECTORYinit.so'])(
    'must be an absolute path, not %s',
    async (path) => {
      await expect(load(path)).rejects.toMatchObject({
        reason: 'parameter',
        message:
          `model 'm': parameter 'MODEL_INIT_LIBRARY' is '${path}', expected an absolute path or one that begins with ` +
          '$$TRITON_MODEL_DIRECTORY/',
      });
    },
  );

  it('that is empty is as if it were not there', async () => {
    await (await load('')).close();
    expect(await calls()).toEqual([]);
  });

  it('that registers operators may be loaded again', async () => {
    const operators = `
      #include <torch/library.h>
      TORCH_LIBRARY(nereid_set_up, m) { m.def("nothing(Tensor x) -> Tensor"); }
      ${RECORDER}
      ${RETURNS_STATE}
      ${FINI}
    `;
    const library = await compileLibrary(operators, { torch: true });
    for (let time = 0; time < 2; time++) await (await load(library)).close();
    expect(await calls()).toEqual(Array.from({ length: 2 }, () => ['init -1', 'fini with the state']).flat());
  }, 300_000);
});
