import { runReadmeExample } from '@nereid/testing';
import { expect, it } from 'vitest';

it('the example of the README prints the names and positions it shows', async () => {
  const { printed } = await runReadmeExample(import.meta.url);
  expect(printed).toEqual(['INPUT__0 = ARGS[0]', 'INPUT__1 = KWARGS[mask]', 'OUTPUT__0 = RESULT', '[ 1, 0 ]']);
});
