/** docs/scheduling.md: its examples print what stands below them, and it speaks of every reason. */
import { readFileSync } from 'node:fs';
import { runReadmeExample } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { BatchCounters } from '../src/batch-counters.ts';

const PAGE = '../../docs/scheduling.md';
const text = readFileSync(new URL(`../${PAGE}`, import.meta.url), 'utf8');

describe('docs/scheduling.md', () => {
  const examples = [...text.matchAll(/^```ts$/gm)].map((_, index) => index);

  it.each(examples)('example %i prints what stands below it', async (index) => {
    const { printed } = await runReadmeExample(import.meta.url, { page: PAGE, index });
    expect(text).toContain(`\`\`\`\n${printed.join('\n')}\n\`\`\``);
  });

  it.each(Object.keys(new BatchCounters().snapshot().closed))('speaks of the reason %s', (reason) => {
    expect(text).toContain(reason);
  });
});
