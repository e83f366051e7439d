import { fileURLToPath } from 'node:url';
import { runReadmeExample } from '@nereid/testing';
import { expect, test } from 'vitest';

test('the example of the README serves the example models', async () => {
  process.chdir(fileURLToPath(new URL('../../..', import.meta.url)));
  const { printed } = await runReadmeExample(import.meta.url);
  expect(printed.join('\n')).toContain('[ true, true ]');
});
