import { runReadmeExample, testModel } from '@nereid/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';

const directory = process.cwd();

beforeAll(() => process.chdir(testModel('native_aoti')));

afterAll(() => process.chdir(directory));

it('runs the example of the README', async () => {
  const { printed } = await runReadmeExample(import.meta.url);
  expect(printed).toEqual(['FP32 [ 1, 10 ]']);
});
