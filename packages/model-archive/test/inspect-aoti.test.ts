import { join } from 'node:path';
import { testModel } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { type DeclaredTensor, formatDeclaredShape, inspectAoti } from '../src/index.ts';
import { exported, temporary } from './temporary.ts';
import { zipOf } from './zip-of.ts';

/** `INPUT__0 ARGS[0] FP32 [1..8,4]`. */
function describeTensor({ ordinalName, forwardName, datatype, torchDtype, shape }: DeclaredTensor): string {
  const shown = shape === undefined ? '?' : formatDeclaredShape(shape);
  return [ordinalName, forwardName ?? '-', datatype ?? torchDtype ?? '-', shown].join(' ');
}

describe('a package with nested arguments and a dynamic batch', () => {
  it('states name, datatype and shape of every input, the batch from 1', async () => {
    const { inputs, notes } = await inspectAoti(exported('nested'));
    expect(inputs?.map(describeTensor)).toEqual([
      'INPUT__0 ARGS[0] FP32 [1..8,4]',
      'INPUT__1 ARGS[1] FP32 [1..8,5]',
      'INPUT__2 ARGS[2][keyA] FP32 [1..8,3]',
      'INPUT__3 ARGS[2][key2] FP32 [1..8,3]',
      'INPUT__4 KWARGS[kwarg1] INT64 [1..8,2]',
      'INPUT__5 KWARGS[kw_arg2] FP32 [7]',
    ]);
    expect(notes).toEqual([]);
  });

  it('and of every output, with the range of a size that is computed from the batch', async () => {
    const { outputs } = await inspectAoti(exported('nested'));
    expect(outputs?.map(describeTensor)).toEqual([
      'OUTPUT__0 RESULT[AAA] FP32 [1..8,3]',
      'OUTPUT__1 RESULT[ZZZ] FP32 [1..8,5]',
      'OUTPUT__2 RESULT[BBB][0] FP32 [1..8,3]',
      'OUTPUT__3 RESULT[BBB][1] FP32 [1..8,3]',
      'OUTPUT__4 RESULT[CCC][keyA] FP32 [1..8,2]',
      'OUTPUT__5 RESULT[CCC][key2] FP32 [2..16,4]',
      'OUTPUT__6 RESULT[DDD][KA] FP32 [1..8]',
      'OUTPUT__7 RESULT[DDD][KB] FP32 [7]',
    ]);
  });

  it('dimensions that are always equal share a symbol', async () => {
    const { inputs = [], outputs = [] } = await inspectAoti(exported('nested'));
    const symbols = [...inputs, ...outputs]
      .flatMap(({ shape = [] }) => shape)
      .flatMap((dim) => (typeof dim === 'number' ? [] : [dim.symbol]))
      .filter((symbol) => symbol !== undefined);
    expect(symbols).toHaveLength(11);
    expect(new Set(symbols).size).toBe(1);
  });

  it('says what it was compiled for', async () => {
    const { target, inputs = [], ...facts } = await inspectAoti(exported('nested'));
    expect(target).toMatchObject({ device: 'cpu', platform: process.platform, cpuIsa: expect.any(String) });
    // The linear layer has two parameters; the bias is inlined by the compiler.
    expect(facts).toMatchObject({
      models: ['model'],
      model: 'model',
      needsCompiler: false,
      constantCount: 1,
      parameterCount: 1,
    });
    expect(inputs.map(({ device, contiguous }) => [device, contiguous])).toEqual(inputs.map(() => ['cpu', true]));
  });
});

describe('a package of several models', () => {
  const inspect = (model?: string) => inspectAoti(exported('several'), { model });

  it('takes the first unless one is called model, or the one asked for', async () => {
    expect((await inspect()).model).toBe('burnt_in');
    expect((await inspect('layouts')).models).toEqual(['burnt_in', 'ambiguous', 'keyword_only', 'layouts']);
  });

  it('names the models it has when another is asked for', async () => {
    await expect(inspect('model')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      reason: 'no-such-model',
      message: expect.stringContaining("no model 'model', only 'burnt_in', 'ambiguous', 'keyword_only', 'layouts'."),
    });
  });

  it('burnt-in values are no inputs; an OrderedDict is a dict', async () => {
    const { inputs, outputs, notes } = await inspect('burnt_in');
    expect(inputs?.map(describeTensor)).toEqual(['INPUT__0 ARGS[0] FP32 [2,3]', 'INPUT__1 ARGS[2] FP32 [2,3]']);
    expect(outputs?.map(describeTensor)).toEqual([
      'OUTPUT__0 RESULT[scaled] FP32 [2,3]',
      'OUTPUT__1 RESULT[next] FP32 [2,3]',
    ]);
    expect(notes).toEqual([
      expect.stringMatching(/^ARGS\[1\] was not a tensor when the model was exported/),
      expect.stringMatching(/^ARGS\[3\] was not a tensor when the model was exported/),
    ]);
  });

  it('where it cannot be told what was burnt in, the rest is known and a note says so', async () => {
    const { inputs, outputs, notes } = await inspect('ambiguous');
    expect(inputs?.map(describeTensor)).toEqual(['INPUT__0 - FP32 [2,4]']);
    expect(outputs?.map(describeTensor)).toEqual(['OUTPUT__0 RESULT FP32 [2,3]']);
    expect(notes).toEqual([expect.stringContaining('it cannot be told which of ARGS[0], ARGS[1] it is')]);
  });

  it('keyword arguments keep the order of the sample', async () => {
    const { inputs } = await inspect('keyword_only');
    expect(inputs?.map(({ forwardName }) => forwardName)).toEqual(['KWARGS[a]', 'KWARGS[b]']);
  });

  it('an input compiled for a transposed tensor is not contiguous, and a note says what to do', async () => {
    const { inputs, notes } = await inspect('layouts');
    expect(inputs?.map(({ contiguous }) => contiguous)).toEqual([true, false]);
    expect(notes).toEqual([
      expect.stringMatching(/^INPUT__1 was compiled for a tensor that is not contiguous.*x\.contiguous\(\)/),
    ]);
  });

  it('outputs are known through views, moves, conversions and operators of torch', async () => {
    const { outputs } = await inspect('layouts');
    expect(outputs?.map(describeTensor)).toEqual([
      'OUTPUT__0 RESULT[0] FP32 [1,3,8,8]',
      'OUTPUT__1 RESULT[1] FP16 [1,3,8,8]',
      'OUTPUT__2 RESULT[2] FP32 [1,4,6,6]',
      'OUTPUT__3 RESULT[3] FP32 []',
      'OUTPUT__4 RESULT[4][0] BOOL [6,5]',
    ]);
  });
});

it('an output that is None is said to be, and empty containers have no tensors', async () => {
  const { inputs, outputs, notes } = await inspectAoti(join(testModel('qa_aoti'), 'hollow.pt2'));
  expect(inputs?.map(describeTensor)).toEqual(['INPUT__0 ARGS[0] FP32 [2,3]', 'INPUT__1 KWARGS[y] FP32 [2,3]']);
  expect(outputs).toMatchObject([
    { ordinalName: 'OUTPUT__0', forwardName: 'RESULT[none]', isNone: true },
    { ordinalName: 'OUTPUT__1', forwardName: 'RESULT[sum]', datatype: 'FP32', shape: [2, 3] },
  ]);
  expect(outputs?.[1]).not.toHaveProperty('isNone');
  expect(notes).toEqual([]);
});

describe('a package that holds less', () => {
  const inspect = async (members: Parameters<typeof zipOf>[0]) => {
    using disk = temporary();
    return await inspectAoti(disk.file('model.pt2', zipOf({ archive_format: 'pt2', ...members })));
  };

  it('without sources and metadata: models only, and a note', async () => {
    expect(await inspect({ 'data/aotinductor/model/x.so': '' })).toEqual({
      models: ['model'],
      model: 'model',
      target: {},
      needsCompiler: false,
      notes: [expect.stringContaining('holds no generated source')],
    });
  });

  it('a source beyond the limit is a note, as the package can be served without it', async () => {
    const { inputs, target, notes } = await inspectAoti(exported('nested'), { maxMemberBytes: 1000 });
    expect(inputs).toBeUndefined();
    expect(target.device).toBe('cpu');
    expect(notes).toEqual([expect.stringMatching(/at most 1000 are read .* known only after it is loaded\.$/)]);
  });

  it('sources without a library: loading it needs a compiler', async () => {
    expect((await inspect({ 'data/aotinductor/model/x.wrapper.cpp': '' })).needsCompiler).toBe(true);
  });

  it('metadata that is not JSON states nothing', async () => {
    expect((await inspect({ 'data/aotinductor/m/x_metadata.json': '{' })).target).toEqual({});
  });

  it("a source without checks and call spec: the compiler's names only", async () => {
    const source = 'inputs_info_[0].name = "arg0_1";\n outputs_info_[0].name = "output0";';
    expect(await inspect({ 'data/aotinductor/model/x.cpp': source })).toMatchObject({
      inputs: [{ ordinalName: 'INPUT__0', compiledName: 'arg0_1' }],
      outputs: [{ ordinalName: 'OUTPUT__0' }],
      constantCount: 0,
      notes: [expect.stringContaining('states no call spec')],
    });
  });

  it('a call spec that is refused leaves the rest, and the note is the refusal', async () => {
    const source = 'inputs_info_[0].name = "arg0_1";\nin_spec_ = R"([2, {}])";\nout_spec_ = R"([1, {}])";';
    const { inputs, notes } = await inspect({ 'data/aotinductor/model/x.wrapper.cpp': source });
    expect(inputs).toEqual([{ ordinalName: 'INPUT__0', compiledName: 'arg0_1' }]);
    expect(notes).toEqual([expect.stringContaining('unsupported call spec protocol 2')]);
  });
});
