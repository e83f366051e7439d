import { runReadmeExample } from '@nereid/testing';
import { expect, it } from 'vitest';

it('the example of the README runs and prints what it says', async () => {
  const { printed } = await runReadmeExample(import.meta.url);
  expect(printed).toEqual([expect.stringContaining('"trace_mode":"triton"')]);
});
