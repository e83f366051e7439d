import { readFileSync } from 'node:fs';
import { runReadmeExample } from '@nereid/testing';
import { expect, it } from 'vitest';

it('the example of the README runs and prints what it says', async () => {
  const { exports, printed } = await runReadmeExample(import.meta.url);
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  expect(exports.config).toBeUndefined();
  expect(printed).toHaveLength(1);
  expect(readme).toContain(`\n${printed[0]}\n`);
});
