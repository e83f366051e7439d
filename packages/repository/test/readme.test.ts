import { runReadmeExample } from '@nereid/testing';
import { expect, it } from 'vitest';
import { dir, onDisk } from './on-disk.ts';

it('the example of the README prints the versions that would be served', async () => {
  using disk = onDisk({ 'model_repository/mlp/1': dir, 'model_repository/mlp/3': dir, 'model_repository/mlp/03': dir });
  const home = process.cwd();
  process.chdir(disk.path);
  const { printed } = await runReadmeExample(import.meta.url).finally(() => process.chdir(home));
  expect(printed).toEqual(["mlp [ '3' ]"]);
});
