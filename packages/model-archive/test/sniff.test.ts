import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ModelFile, sniffModelFile } from '../src/index.ts';
import { exported, temporary } from './temporary.ts';
import { zipOf } from './zip-of.ts';

describe('files that PyTorch writes', () => {
  const LEGACY = 'written by torch.save in its format before PyTorch 1.6';
  it.each<[Parameters<typeof exported>, ModelFile['kind'], string, string | undefined]>([
    [['files', 'scripted.pt'], 'torchscript', 'a TorchScript archive', undefined],
    [['files', 'traced.pt'], 'torchscript', 'a TorchScript archive', undefined],
    [['files', 'frozen.pt'], 'torchscript', 'a TorchScript archive', undefined],
    [['nested'], 'aoti', "an AOTInductor package of 'model'", undefined],
    [['several'], 'aoti', "an AOTInductor package of 'burnt_in', 'ambiguous', 'keyword_only', 'layouts'", undefined],
    [
      ['nested', 'exported.pt2'],
      'exported-program',
      'an exported program that is not compiled yet',
      'aoti_compile_and_package(program',
    ],
    [
      ['files', 'state_dict.pt'],
      'eager-pickle',
      'a state dict, weights without the code that uses them, written by torch.save (keys weight, bias)',
      'model.load_state_dict(torch.load(',
    ],
    [
      ['files', 'checkpoint.pt'],
      'eager-pickle',
      'a checkpoint, a dict with weights in it, written by torch.save (keys epoch, model)',
      '[KEY])',
    ],
    [
      ['files', 'module.pt'],
      'eager-pickle',
      'a pickled module of class torch.nn.modules.linear.Linear',
      'weights_only=False',
    ],
    [['files', 'tensor.pt'], 'eager-pickle', 'a single tensor', 'Export the module that uses it.'],
    [['files', 'numbers.pt'], 'eager-pickle', 'a pickled value without a model', 'torch.jit.script'],
    [
      ['files', 'legacy_state_dict.pt'],
      'legacy-pickle',
      `a state dict, weights without the code that uses them, ${LEGACY}`,
      'model.load_state_dict(torch.load(',
    ],
    [
      ['files', 'legacy_module.pt'],
      'legacy-pickle',
      `a pickled module of class torch.nn.modules.linear.Linear, whose code is not in the file, ${LEGACY}`,
      'weights_only=False',
    ],
    [['files', 'object.pkl'], 'pickle', 'a pickled object of class pathlib.PurePosixPath', 'torch.jit.script'],
    [['files', 'protocol_2.pkl'], 'pickle', 'a pickled value without a model, written by pickle.dump', 'torch.jit'],
    [['files', 'protocol_5.pkl'], 'pickle', 'a pickled value without a model, written by pickle.dump', 'torch.jit'],
  ])('%j is %s', async (file, kind, summary, remedy) => {
    const found = await sniffModelFile(exported(...file));
    expect(found.kind).toBe(kind);
    expect(found.summary).toContain(`'${exported(...file)}' is ${summary}`);
    if (remedy === undefined) expect(found.remedy).toBeUndefined();
    else expect(found.remedy).toContain(remedy);
  });

  it('a pickle is looked at, and what loading it would import is listed', async () => {
    expect(await sniffModelFile(exported('files', 'state_dict.pt'))).toMatchObject({
      pickled: {
        contains: 'state-dict',
        keys: ['weight', 'bias'],
        globals: ['collections.OrderedDict', 'torch._utils._rebuild_tensor_v2', 'torch.FloatStorage'],
      },
    });
  });

  it('the lines of Python in a remedy hold the path', async () => {
    const path = exported('files', 'state_dict.pt');
    expect((await sniffModelFile(path)).remedy).toContain(`torch.load("${path}", weights_only=True)`);
  });
});

describe('other files', () => {
  const header = '{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}';
  const headerLength = Buffer.alloc(8);
  headerLength.writeBigUInt64LE(BigInt(header.length));
  const safetensors = Buffer.concat([headerLength, Buffer.from(header), Buffer.alloc(4)]);

  it.each<[ModelFile['kind'], Uint8Array | string, string]>([
    ['empty', '', 'The copy or export did not finish'],
    ['git-lfs-pointer', 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n', 'git lfs pull'],
    ['html', '\n<!DOCTYPE html><title>Sign in</title>', 'download the model again'],
    ['safetensors', safetensors, 'safetensors.torch.load_file'],
    ['onnx', Buffer.from('080812077079746f726368', 'hex'), 'It needs another backend'],
    ['zip', zipOf({ 'notes.txt': 'hello' }), 'torch.export.export'],
    ['zip', zipOf({}), 'torch.export.export'],
    ['exported-program', zipOf({ 'serialized_exported_program.json': '{}', version: '1' }), 'torch.export.load'],
    ['aoti', zipOf({ 'data/aotinductor/model/x.so': '', archive_format: 'pt2' }), ''],
    ['torchscript', zipOf({ 'm/code/a.py': '', 'm/constants.pkl': '', '__MACOSX/m/x': '' }), ''],
    ['damaged-zip', zipOf({ '../escape': 'x' }), 'export the model again'],
    ['other', 'name: "mlp"\nbackend: "pytorch"\n', 'torch.jit.script'],
    ['other', 'x', 'torch.jit.script'],
  ])('%s', async (kind, contents, remedy) => {
    using disk = temporary();
    const found = await sniffModelFile(disk.file('model.pt', contents));
    expect(found.kind).toBe(kind);
    expect(found.remedy ?? '').toContain(remedy);
  });

  it.skipIf(process.platform === 'win32')(
    'a pipe is an error that says so, and is not waited for (not on Windows)',
    async () => {
      using disk = temporary();
      const path = join(disk.directory, 'model.pt');
      execFileSync('mkfifo', [path]);
      await expect(sniffModelFile(path)).rejects.toMatchObject({
        reason: 'unreadable',
        message: expect.stringContaining('is not a regular file'),
      });
    },
  );

  it('a file that is not there and a directory are errors that say so', async () => {
    using disk = temporary();
    const missing = join(disk.directory, 'model.pt');
    await expect(sniffModelFile(missing)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      reason: 'unreadable',
      message: `Cannot read '${missing}': there is no such file.`,
    });
    await expect(sniffModelFile(disk.directory)).rejects.toMatchObject({
      reason: 'unreadable',
      message: expect.stringContaining('is a directory; a model is a file'),
    });
  });
});
