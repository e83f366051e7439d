import { expect, it } from 'vitest';
import { runReadmeExample } from '../src/index.ts';

it('the example of the README runs and prints what it says', async () => {
  const { printed, exports } = await runReadmeExample(import.meta.url);
  expect(printed).toEqual(['[ 1, 2, 3 ]']);
  expect(exports).toHaveProperty('backend');
});
