import { readFileSync } from 'node:fs';
import { runReadmeExample } from '@nereid/testing';
import { expect, it } from 'vitest';

it('the example of the README runs and prints what it says', async () => {
  const { printed } = await runReadmeExample(import.meta.url);
  expect(printed).toEqual(['[ [ 97, 98 ], [ 99 ] ]']);
});

it('the simulation of the README prints what stands below it', async () => {
  const { printed } = await runReadmeExample(import.meta.url, 1);
  expect(printed).toHaveLength(3);
  expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).toContain(
    `\`\`\`\n${printed.join('\n')}\n\`\`\``,
  );
});
