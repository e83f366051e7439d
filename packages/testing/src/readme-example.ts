import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { format } from 'node:util';

export interface ReadmeRun {
  /** What the example exports. */
  readonly exports: Readonly<Record<string, unknown>>;
  /** What the example gave to `console.log` while it was imported, one entry per call. */
  readonly printed: readonly string[];
}

/** A `ts` block of a page. */
export interface ExamplePlace {
  /** Path of the page from the package's directory; its README.md by default. */
  readonly page?: string;
  /** Which block, from 0 on; the first by default. */
  readonly index?: number;
}

let runs = 0;

/**
 * Runs a `ts` block of a package's README.md, or of another page, under vitest.
 *
 * The block becomes a module in the package's `.cache` directory, so that its imports resolve as a test's do, and is removed afterwards.
 * @param testUrl `import.meta.url` of the test; the README is the one beside the nearest package.json above it
 * @param place  which block; a number is the index of one in the README
 * @throws {Error} when the page has no such block, and whatever the example throws
 */
export async function runReadmeExample(testUrl: string, place: number | ExamplePlace = 0): Promise<ReadmeRun> {
  const directory = packageOf(testUrl);
  const { page = 'README.md', index = 0 } = typeof place === 'number' ? { index: place } : place;
  const file = join(directory, '.cache', `readme-${process.pid}-${runs++}.ts`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, exampleOf(join(directory, page), index));
  const printed: string[] = [];
  const log = console.log;
  console.log = (...values: unknown[]) => printed.push(format(...values));
  try {
    return { exports: await import(/* @vite-ignore */ pathToFileURL(file).href), printed };
  } finally {
    console.log = log;
    rmSync(file);
  }
}

function packageOf(testUrl: string): string {
  const start = dirname(fileURLToPath(testUrl));
  for (let directory = start; directory !== dirname(directory); directory = dirname(directory)) {
    if (existsSync(join(directory, 'package.json'))) return directory;
  }
  throw new Error(`no package.json above ${start}`);
}

function exampleOf(page: string, index: number): string {
  const block = [...readFileSync(page, 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)][index];
  if (block?.[1] !== undefined) return block[1];
  throw new Error(`${page} has no block number ${index} that begins with \`\`\`ts`);
}
