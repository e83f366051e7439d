/** Puts the page together: one HTML file with its style and its script inside, bundled from `src/page`. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = (file: string) => fileURLToPath(new URL(`src/page/${file}`, import.meta.url));

/** Browsers of the last two years. */
const TARGET = ['chrome115', 'firefox115', 'safari17'];

async function bundle(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [source(file)],
    bundle: true,
    write: false,
    format: 'iife',
    minify: true,
    target: TARGET,
    charset: 'utf8',
    legalComments: 'none',
    conditions: ['@nereid/source'],
    tsconfig: source('tsconfig.json'),
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`esbuild made nothing of ${file}`);
  return output.text.trim();
}

/** @returns the text of the page: `<style>` and `<script>` are its only ones, and hold nothing that ends them early */
export async function buildPage(): Promise<string> {
  const [style, script] = await Promise.all([bundle('page.css'), bundle('main.ts')]);
  // Functions, as a text would have its dollar signs read.
  return readFileSync(source('page.html'), 'utf8')
    .replace('/* style */', () => style)
    .replace('/* script */', () => script);
}
