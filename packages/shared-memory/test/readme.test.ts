import { runReadmeExample } from '@nereid/testing';
import { expect, it } from 'vitest';

it('the example of the README reads a part of a region whose object is gone', async () => {
  const { printed } = await runReadmeExample(import.meta.url);
  expect(printed.join('\n')).toContain('<Buffer 03 04 05>');
});
