import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { runReadmeExample } from '@nereid/testing';
import { expect, it } from 'vitest';
import { exported, temporary } from './temporary.ts';

it('the example of the README prints what the file is and what it takes', async () => {
  using disk = temporary();
  copyFileSync(exported('nested'), join(disk.directory, 'model.pt2'));
  const home = process.cwd();
  process.chdir(disk.directory);
  const { printed } = await runReadmeExample(import.meta.url).finally(() => process.chdir(home));
  expect(printed[0]).toContain("'model.pt2' is an AOTInductor package of 'model'");
  expect(printed.slice(1, 3)).toEqual(['INPUT__0 ARGS[0] FP32 [1..8,4]', 'INPUT__1 ARGS[1] FP32 [1..8,5]']);
});
