import { runReadmeExample } from '@nereid/testing';
import { expect, test } from 'vitest';

test('the example of the README runs', async () => {
  const { printed } = await runReadmeExample(import.meta.url);
  expect(printed).toEqual(['[ 1, 10 ]']);
});
