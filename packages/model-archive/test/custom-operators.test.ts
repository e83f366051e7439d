import { join } from 'node:path';
import { testModel } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { listCustomOperators } from '../src/index.ts';

describe('operators outside torch', () => {
  it.each([
    ['are told by namespace and name', 'backend_torchscript/unknown_operator.pt', ['nereid_test::plus_one']],
    ['are none in a module of torch alone', 'backend_torchscript/addsub.pt', []],
    ['are none in a frozen module', 'archive_files/frozen.pt', []],
  ])('%s', async (_, file, expected) => {
    const [model = '', name = ''] = file.split('/');
    expect(await listCustomOperators(join(testModel(model), name))).toEqual(expected);
  });

  it('are not looked for in another kind of file', async () => {
    const file = join(testModel('backend_aoti'), 'add.pt2');
    await expect(listCustomOperators(file)).rejects.toMatchObject({ reason: 'wrong-kind' });
  });
});
