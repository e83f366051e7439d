import { readFileSync } from 'node:fs';
import type { BatchStrategy } from '@nereid/core';
import { requestFor, runReadmeExample } from '@nereid/testing';
import { expect, it } from 'vitest';

it('the example of the README runs and prints what it says', async () => {
  const { printed } = await runReadmeExample(import.meta.url);
  expect(printed).toEqual(['[ [ 97, 98 ], [ 99 ] ]']);
});

it('the simulation of the README prints what stands below it', async () => {
  const { printed } = await runReadmeExample(import.meta.url, 1);
  expect(printed).toHaveLength(3);
  expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).toContain(
    `\`\`\`\n${printed.join('\n')}\n\`\`\``,
  );
});

it('the sequences of the README keep a count each', async () => {
  const { printed } = await runReadmeExample(import.meta.url, 3);
  expect(printed).toEqual(['sequence 1: 1', 'sequence 2: 1', 'sequence 1: 2']);
});

it('the rate limiter of the README gives turns by priority', async () => {
  const { printed } = await runReadmeExample(import.meta.url, 4);
  expect(printed).toEqual(['often seldom often seldom often often']);
});

it('the strategy of the README keeps two tenants apart', async () => {
  const { exports } = await runReadmeExample(import.meta.url, 2);
  const batch = (exports.byTenant as BatchStrategy).startBatch();
  const joins = ['a', 'a', 'b', 'a'].map((tenant) =>
    batch.include(requestFor({ parameters: new Map([['tenant', tenant]]) })),
  );
  expect(joins).toEqual([true, true, false, true]);
});
