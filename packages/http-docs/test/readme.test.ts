import { runReadmeExample } from '@nereid/testing';
import { expect, it } from 'vitest';

it('the example of the README runs and prints what it says', async () => {
  expect((await runReadmeExample(import.meta.url)).printed).toEqual(["true default-src 'none'"]);
});
