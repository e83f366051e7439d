import { readFile } from 'node:fs/promises';
import { runReadmeExample } from '@nereid/testing';
import { expect, it } from 'vitest';

it('the example of the README prints what the README shows', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const shown = /^```ts\n.*?^```\n\n```\n(.*?)\n```$/ms.exec(readme)?.[1];
  const { printed } = await runReadmeExample(import.meta.url);
  expect(printed.join('\n')).toBe(shown);
});
