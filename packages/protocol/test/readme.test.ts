import { runReadmeExample } from '@nereid/testing';
import { expect, it } from 'vitest';

it('the example of the README runs and prints what it says', async () => {
  const { printed } = await runReadmeExample(import.meta.url);
  expect(printed).toEqual([
    '{"id":"7","model_name":"m","model_version":"1","outputs":[{"name":"x","datatype":"INT64","shape":[2],"data":[1,9007199254740993]}]}',
  ]);
});
