import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runReadmeExample } from '@nereid/testing';
import { expect, it } from 'vitest';
import { ADD_SUB } from './fixture.ts';

it('the example of the README loads a repository and prints its models', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'nereid-serving-readme-'));
  mkdirSync(join(directory, 'model_repository/add_sub/1'), { recursive: true });
  writeFileSync(join(directory, 'model_repository/add_sub/config.pbtxt'), ADD_SUB);
  const home = process.cwd();
  process.chdir(directory);
  const { printed } = await runReadmeExample(import.meta.url).finally(() => process.chdir(home));
  rmSync(directory, { recursive: true });
  expect(printed).toEqual(["add_sub 1 READY [ 'add_sub_0' ]"]);
});
