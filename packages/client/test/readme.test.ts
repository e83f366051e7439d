import { runReadmeExample } from '@nereid/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Served, serve } from './fixture.ts';

let served: Served;
beforeAll(async () => {
  served = await serve();
  process.env.NEREID_URL = served.url;
  process.env.NEREID_GRPC_URL = served.grpcUrl;
});
afterAll(() => served[Symbol.asyncDispose]());

it.each([
  [0, ['Float32Array(3) [ 1, 2, 3 ]']],
  [1, ['1', '2', '3']],
  [2, ['1', '2', '3']],
])('example %i of the README prints what it says', async (index, expected) => {
  expect((await runReadmeExample(import.meta.url, index)).printed).toEqual(expected);
});
