/** Where the addon is built to, and the record of what it was built from. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const packageRoot = join(dirname(fileURLToPath(import.meta.url)), '..');
export const buildDirectory = join(packageRoot, 'build');
export const addonFile = join(buildDirectory, 'Release', 'nereid.node');
export const stampFile = join(buildDirectory, 'stamp.json');

/** What the addon was built from; undefined if no build was finished. */
export function readStamp() {
  return existsSync(stampFile) ? JSON.parse(readFileSync(stampFile, 'utf8')) : undefined;
}
