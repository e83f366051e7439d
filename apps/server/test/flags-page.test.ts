import { expect, test } from 'vitest';
import { flagsPage } from '../src/flags/page.ts';

test('the page of the documentation lists every option as it is (vitest run -u writes it anew)', async () => {
  await expect(flagsPage()).toMatchFileSnapshot('../../../docs/options.md');
});
