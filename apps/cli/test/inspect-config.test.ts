import { basename, join } from 'node:path';
import { testModel } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { examples, nereid, onDisk } from './nereid.ts';
import { inspectArguments, PACKAGES } from './packages.ts';

describe('the configuration of a package', () => {
  it.each(PACKAGES)('fits its file and passes nereid config: $name', async (given) => {
    const { code, stdout, stderr } = await nereid(['inspect', '--config', ...inspectArguments(given)]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { file } = given;
    using directory = onDisk({ 'm/config.pbtxt': stdout, [`m/1/${basename(file)}`]: { copyOf: file } });
    const checked = await nereid(['config', join(directory.path, 'm')]);
    expect(checked).toMatchObject({ code: 0, stderr: '' });
    const inspected = await nereid(['inspect', join(directory.path, 'm')]);
    expect(inspected.stdout).toContain('version 1: ok');
    expect(inspected.code).toBe(0);
  });

  it.each(PACKAGES)('is laid out as --format does: $name', async (given) => {
    const { stdout } = await nereid(['inspect', '--config', ...inspectArguments(given)]);
    expect((await nereid(['config', '--format', '-'], { stdin: stdout })).stdout).toBe(stdout);
  });

  it('has the declared upper bound as the largest batch, and dims without it', async () => {
    const { stdout } = await nereid(['inspect', '--config', join(examples, 'mlp', '1', 'model.pt2')]);
    expect(stdout).toContain(
      '# Largest batch: dimension 0 of every tensor may be 1 to 64. It is left out of dims below.\nmax_batch_size: 64\n',
    );
    expect(stdout).toContain(
      '  {\n    # ARGS[0], [1..64, 64]\n    name: "INPUT__0"\n    data_type: TYPE_FP32\n    dims: [64]\n  }\n',
    );
  });

  it('has no batch when one tensor has none, and says which', async () => {
    const { stdout } = await nereid(['inspect', '--config', join(testModel('archive_nested'), 'model.pt2')]);
    expect(stdout).toContain('(INPUT__5 has shape [7]).\n');
    expect(stdout).toContain('max_batch_size: 0\n');
    expect(stdout).toContain(
      '# INPUT__2, [1..8, 3]\n    name: "ARGS[2][keyA]"\n    data_type: TYPE_FP32\n    dims: [-1, 3]\n',
    );
  });

  it('names the file and the model where they are not the usual ones', async () => {
    const { stdout } = await nereid(['inspect', '--config', join(testModel('backend_aoti'), 'add.pt2')]);
    expect(stdout).toContain('default_model_filename: "add.pt2"');
    const several = await nereid([
      'inspect',
      '--config',
      join(testModel('archive_several'), 'model.pt2'),
      '--model',
      'burnt_in',
    ]);
    expect(several.stdout).toContain('parameters { key: "AOTI_MODEL_NAME" value { string_value: "burnt_in" } }');
  });

  it('leaves open what the package does not state, and is good once that is filled in', async () => {
    const { code, stdout, stderr } = await nereid([
      'inspect',
      '--config',
      join(testModel('native_aoti'), 'dtypes.pt2'),
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain('fill in: data_type and dims of OUTPUT__14: the file does not state it\n');
    expect((await nereid(['config', '-'], { stdin: stdout })).code).toBe(1);
    expect((await nereid(['config', '-'], { stdin: stdout.replaceAll('# FILL IN ', '') })).code).toBe(0);
  });

  it('leaves out a result without dimensions, and says why', async () => {
    const file = join(testModel('archive_several'), 'model.pt2');
    const { code, stdout, stderr } = await nereid(['inspect', '--config', file, '--model', 'layouts']);
    expect(stdout).toContain('# OUTPUT__3 is a number without dimensions and left out');
    expect(stdout).not.toContain('name: "RESULT[3]"');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'fill in: INPUT__1 is not contiguous: export again with x.contiguous() as the sample\n',
    });
  });
});

describe('the configuration of a TorchScript module', () => {
  const inspect = (name: string) =>
    nereid(['inspect', '--config', join(testModel('native_torchscript'), `${name}.pt`)]);

  it.each<[name: string, open: readonly string[], ...lines: string[]]>([
    [
      'mixed',
      ["data_type and dims of input 'x'", "data_type and dims of output 'OUTPUT__0'"],
      '    name: "x"\n    # FILL IN data_type: TYPE_FP32\n',
      '    name: "names"\n    data_type: TYPE_STRING\n    dims: [-1]\n',
    ],
    [
      'keyed',
      [
        "names (the keys of 'inputs'), data_type and dims of every input",
        "names (the keys of 'result'), data_type and dims of every output",
      ],
      'name: "FILL_IN_KEY"',
    ],
    ['tensors', ["data_type and dims of input 'x'", 'every output: the file does not state how many there are']],
    [
      'number',
      ["data_type and dims of input 'x'", 'OUTPUT__0: int is no tensor; wrap the module in one that returns tensors'],
    ],
    ['defaults', ["data_type and dims of input 'x'", "data_type and dims of output 'OUTPUT__0'"]],
  ])('says what cannot be known: %s', async (name, open, ...lines) => {
    const { code, stdout, stderr } = await inspect(name);
    expect({ code, stderr }).toEqual({ code: 1, stderr: open.map((sentence) => `fill in: ${sentence}\n`).join('') });
    for (const line of lines) expect(stdout).toContain(line);
  });

  it('names arguments that no tensor fits', async () => {
    const file = join(testModel('backend_torchscript'), 'tensor_and_number.pt');
    const { stderr } = await nereid(['inspect', '--config', file]);
    expect(stderr).toContain("argument 'n' is int, which no tensor fits: give it a default");
  });

  it('is complete when there are strings only', async () => {
    const { code, stdout, stderr } = await inspect('strings');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect((await nereid(['config', '-'], { stdin: stdout })).code).toBe(0);
  });

  it('is good once it is filled in', async () => {
    const { stdout } = await inspect('mixed');
    expect((await nereid(['config', '-'], { stdin: stdout })).code).toBe(1);
    expect((await nereid(['config', '-'], { stdin: stdout.replaceAll('# FILL IN ', '') })).code).toBe(0);
  });
});

it('there is none for another kind of file', async () => {
  const { code, stdout, stderr } = await nereid([
    'inspect',
    '--config',
    join(testModel('archive_files'), 'state_dict.pt'),
  ]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('is a state dict');
});
