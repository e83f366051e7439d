import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it, vi } from 'vitest';

// `@nereid/testing` has a helper for this, but it stands on this package.
const EXAMPLE = fileURLToPath(new URL(`../.cache/readme-${process.pid}.ts`, import.meta.url));

afterAll(() => rmSync(EXAMPLE, { force: true }));

it('the example of the README runs and prints what it says', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  mkdirSync(fileURLToPath(new URL('../.cache', import.meta.url)), { recursive: true });
  writeFileSync(EXAMPLE, /^```ts\n(.*?)^```$/ms.exec(readme)?.[1] ?? 'throw new Error("README.md has no ts block")');
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  const { request } = await import(/* @vite-ignore */ EXAMPLE);
  expect(log.mock.calls).toEqual([[12, Float32Array.of(1, 2, 3)], ['answered']]);
  expect(request.isDone).toBe(true);
});
