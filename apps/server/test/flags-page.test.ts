import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ACCEPTED_FLAGS } from '../src/flags/groups/accepted.ts';
import { flagsPage } from '../src/flags/page.ts';
import { FLAGS } from '../src/flags/table.ts';

test('the page of the documentation lists every option as it is (vitest run -u writes it anew)', async () => {
  await expect(flagsPage()).toMatchFileSnapshot('../../../docs/options.md');
});

test('the page of limits names the options of each, and only options that there are', () => {
  const page = readFileSync(new URL('../../../docs/limits.md', import.meta.url), 'utf8');
  const [, , ...rows] = page.split('\n').filter((line) => line.startsWith('|'));
  for (const row of rows) {
    const options = [...(row.split('|')[3] ?? '').matchAll(/--([\w-]+)/g)].map(([, name]) => name);
    expect(options, row).not.toEqual([]);
    expect(Object.keys(FLAGS)).toEqual(expect.arrayContaining(options));
  }
});

test('the options without effect, and no others, stand apart', () => {
  const apart = Object.entries(FLAGS).filter(([, flag]) => 'ignored' in flag && flag.kind === 'any');
  expect(apart.map(([name]) => name)).toEqual(Object.keys(ACCEPTED_FLAGS));
});
