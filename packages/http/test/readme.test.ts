import { runReadmeExample } from '@nereid/testing';
import type { FastifyInstance } from 'fastify';
import { expect, it } from 'vitest';

function isApp(value: unknown): value is FastifyInstance {
  return typeof value === 'object' && value !== null && 'inject' in value && 'close' in value;
}

it('the example of the README runs and prints what it says', async () => {
  const { exports, printed } = await runReadmeExample(import.meta.url);
  expect(printed).toEqual([expect.stringMatching(/^\{\s+name: 'nereid',\s+version: '.*',\s+extensions: \[/)]);
  const { app } = exports;
  if (!isApp(app)) throw new Error('the example exports no app');
  await app.close();
});
