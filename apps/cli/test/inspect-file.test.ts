import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { testModel } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { examples, nereid, onDisk } from './nereid.ts';

const nested = join(testModel('archive_nested'), 'model.pt2');
const several = join(testModel('archive_several'), 'model.pt2');
const files = testModel('archive_files');

describe('an AOTInductor package', () => {
  it('shows names, datatypes, ranges and what it was made for', async () => {
    const { code, stdout, stderr } = await nereid(['inspect', nested]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.split('\n');
    expect(lines[0]).toBe(`'${nested}' is an AOTInductor package of 'model' (platform torch_aoti, usually model.pt2).`);
    expect(lines).toContain('  Platform   torch_aoti');
    expect(lines).toContain('  Device     cpu');
    expect(stdout).toMatch(/^ {2}Constants {2}\d+$/m);
    expect(stdout).toMatch(/^ {2}CPU ISA {4}\S.* \(this machine has it\)$/m);
    expect(lines).toContain('  INPUT__2  ARGS[2][keyA]    FP32      [1..8, 3]  cpu');
    expect(lines).toContain('  INPUT__4  KWARGS[kwarg1]   INT64     [1..8, 2]  cpu');
    expect(lines).toContain('  OUTPUT__5  RESULT[CCC][key2]  FP32      [2..16, 4]');
    expect(stdout).toContain('note: Of equal size: dimension 0 of INPUT__0, INPUT__1, INPUT__2');
  });

  it('says the same as JSON', async () => {
    const { code, stdout } = await nereid(['inspect', '--json', nested]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      path: nested,
      kind: 'aoti',
      platform: 'torch_aoti',
      models: ['model'],
      target: { device: 'cpu' },
      cpuIsaSupported: true,
      problems: [],
      inputs: [
        { ordinalName: 'INPUT__0', forwardName: 'ARGS[0]', datatype: 'FP32', shape: [{ min: 1, max: 8 }, 4] },
        {},
        {},
        {},
        {},
        {},
      ],
    });
  });

  it('with several models shows the first, or the one asked for', async () => {
    const first = await nereid(['inspect', several]);
    expect(first.stdout).toContain('Model      burnt_in (--model shows another: ambiguous, keyword_only, layouts)');
    const { stdout } = await nereid(['inspect', several, '--model', 'keyword_only']);
    expect(stdout).toContain('INPUT__1  KWARGS[b]');
    expect(await nereid(['inspect', several, '--model', 'x'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("holds no model 'x', only 'burnt_in', 'ambiguous'"),
    });
  });

  it('that would compute wrong results has a problem', async () => {
    const { code, stdout } = await nereid(['inspect', several, '--model', 'layouts']);
    expect(code).toBe(1);
    expect(stdout).toContain('problem: A server refuses the model because of INPUT__1, not contiguous.');
    expect(stdout).toContain('note: INPUT__1 was compiled for a tensor that is not contiguous');
  });
});

describe('a TorchScript archive', () => {
  it('shows the signature of forward', async () => {
    const { code, stdout } = await nereid(['inspect', join(examples, 'vision', '1', 'model.pt')]);
    expect(code).toBe(0);
    expect(stdout).toContain('  Platform  pytorch_libtorch\n');
    expect(stdout).toContain('  Forward   forward(image: Tensor) -> Tensor\n');
  });

  it('shows defaults, further methods, and the training flag', async () => {
    const { stdout } = await nereid(['inspect', join(files, 'scripted.pt')]);
    expect(stdout).toContain('mask: Optional[Tensor] = None, scale: float = 1.5');
    expect(stdout).toMatch(/^ {2}Methods {3}describe$/m);
    const training = await nereid(['inspect', join(testModel('native_torchscript'), 'training.pt')]);
    expect(training.stdout).toContain('Training  yes; the server switches it to evaluation');
  });

  it('without forward has a problem', async () => {
    const { code, stdout } = await nereid(['inspect', join(testModel('native_torchscript'), 'no_forward.pt')]);
    expect(code).toBe(1);
    expect(stdout).toContain('problem: The module has no forward, only other.');
  });

  it('has no models to choose from', async () => {
    const { code, stderr } = await nereid(['inspect', join(files, 'scripted.pt'), '--model', 'x']);
    expect(code).toBe(2);
    expect(stderr).toContain('--model chooses a model of an AOTInductor package, but ');
  });
});

describe('any other file is named, with what to do, and exit code 1', () => {
  it.each([
    ['state_dict.pt', 'is a state dict', 'model.load_state_dict('],
    ['checkpoint.pt', 'is a checkpoint', 'model.load_state_dict('],
    ['module.pt', 'is a pickled module of class', 'torch.jit.script('],
    ['protocol_4.pkl', 'is a pickled value', 'torch.jit.script('],
  ])('%s', async (name, what, remedy) => {
    const { code, stdout, stderr } = await nereid(['inspect', join(files, name)]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toContain(`${name}' ${what}`);
    expect(stdout).toContain('problem: This kind of file cannot be served.');
    expect(stdout).toMatch(/^remedy: /m);
    expect(stdout).toContain(remedy);
  });

  it.each([
    ['an exported program that is not compiled', join(testModel('archive_nested'), 'exported.pt2'), 'exported-program'],
    ['JSON of it', join(files, 'tensor.pt'), 'eager-pickle'],
  ])('%s', async (_, path, kind) => {
    const { code, stdout } = await nereid(['inspect', '--json', path]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ kind, remedy: expect.any(String), problems: [expect.any(String)] });
  });

  it('a package that was cut off', async () => {
    using directory = onDisk({ 'model.pt2': { copyOf: nested } });
    truncateSync(join(directory.path, 'model.pt2'), 1000);
    const { code, stdout } = await nereid(['inspect', join(directory.path, 'model.pt2')]);
    expect(code).toBe(1);
    expect(stdout).toContain('is a zip archive that was cut off.');
  });

  it('an empty file, and what is no file at all', async () => {
    using directory = onDisk({ empty: '' });
    expect((await nereid(['inspect', join(directory.path, 'empty')])).stdout).toContain('is empty (0 bytes)');
    const { code, stderr } = await nereid(['inspect', '/dev/null/x']);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "nereid: cannot read '/dev/null/x': a part of the path is not a directory\n",
    });
  });
});
