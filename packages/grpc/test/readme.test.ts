import { runReadmeExample } from '@nereid/testing';
import { expect, it } from 'vitest';
import { GrpcServer } from '../src/index.ts';

it('the example of the README runs and prints what it says', async () => {
  const { exports, printed } = await runReadmeExample(import.meta.url);
  expect(printed).toEqual(['true']);
  const { server } = exports;
  if (!(server instanceof GrpcServer)) throw new Error('the example exports no server');
  await server.close();
});
