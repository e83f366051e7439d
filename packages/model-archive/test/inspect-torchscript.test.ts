import { describe, expect, it } from 'vitest';
import { inspectTorchScript } from '../src/index.ts';
import { exported, temporary } from './temporary.ts';
import { zipOf } from './zip-of.ts';

const inspect = (file: string) => inspectTorchScript(exported('files', file));

describe('the signature of forward is read from the archive', () => {
  it('types and defaults as they are written, also where a default holds brackets and commas', async () => {
    const { arguments: args, className, methods } = await inspect('scripted.pt');
    expect(args).toEqual([
      { name: 'x', type: 'Tensor' },
      { name: 'named', type: 'Dict[str, Tensor]' },
      { name: 'words', type: 'List[str]' },
      { name: 'mask', type: 'Optional[Tensor]', default: 'None' },
      { name: 'scale', type: 'float', default: '1.5' },
      { name: 'label', type: 'str', default: String.raw`"a, b) -> \'c\': ["` },
      { name: 'size', type: 'Tuple[int, int]', default: '(1, 2)' },
    ]);
    expect(className).toMatch(/^__torch__\..*Scripted$/);
    expect(methods).toEqual(['forward', 'describe']);
  });

  it('a named tuple returns the types of its fields', async () => {
    const { returnType, returns } = await inspect('scripted.pt');
    expect(returnType).toMatch(/^__torch__\..*Pair$/);
    expect(returns).toEqual(['Tensor', 'List[str]']);
  });

  it('a traced module keeps its argument names and returns a tuple', async () => {
    expect(await inspect('traced.pt')).toMatchObject({
      arguments: [
        { name: 'a', type: 'Tensor' },
        { name: 'b', type: 'Tensor' },
      ],
      returnType: 'Tuple[Tensor, Tensor]',
      returns: ['Tensor', 'Tensor'],
    });
  });
});

it.each([
  ['scripted.pt', false, 'saved after eval()'],
  ['traced.pt', true, 'saved in training mode'],
  ['frozen.pt', undefined, 'frozen, so it has none'],
])('the training flag of %s is %s: %s', async (file, training, _why) => {
  expect((await inspect(file)).training).toBe(training);
});

describe('an archive that holds less', () => {
  const module = { contents: Buffer.from('\x80\x02c__torch__\nNet\n)\x81}b.', 'latin1') };
  const inspectMembers = async (members: Parameters<typeof zipOf>[0]) => {
    using disk = temporary();
    const archive = zipOf({ 'constants.pkl': '', 'code/x.py': '', 'data.pkl': module, ...members });
    return await inspectTorchScript(disk.file('model.pt', archive));
  };

  it('without the source of the class: its name', async () => {
    expect(await inspectMembers({})).toEqual({ className: '__torch__.Net', methods: [] });
  });

  it('a class without forward, after one that has it', async () => {
    const source =
      'class Other(Module):\n  def forward(self: __torch__.Other) -> int:\n    return 1\n' +
      'class Net(Module):\n  def run(self: __torch__.Net) -> int:\n    return 1\n';
    expect(await inspectMembers({ 'code/__torch__.py': source })).toEqual({
      className: '__torch__.Net',
      methods: ['run'],
    });
  });

  it.each([
    ['NoneType', undefined],
    ['List[Tensor]', undefined],
    ['Dict[str, Tensor]', undefined],
    ['Tuple[()]', []],
    ['Tuple[Tensor, Dict[str, Tensor]]', ['Tensor', 'Dict[str, Tensor]']],
  ])('a forward without arguments that returns %s', async (returnType, returns) => {
    const source = `class Net(Module):\n  def forward(self: __torch__.Net) -> ${returnType}:\n    return 1\n`;
    const inspection = await inspectMembers({ 'code/__torch__.py': source });
    expect(inspection).toMatchObject({ arguments: [], returnType });
    expect(inspection.returns).toEqual(returns);
  });

  it('a data.pkl without a module is corrupt', async () => {
    await expect(inspectMembers({ 'data.pkl': 'N.' })).rejects.toMatchObject({
      reason: 'corrupt',
      message: expect.stringContaining('whose data.pkl holds no module'),
    });
  });
});
