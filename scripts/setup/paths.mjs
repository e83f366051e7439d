import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const inRoot = (...parts) => join(root, ...parts);
export const venvBin = (tool) => inRoot('.venv', 'bin', tool);

const stampFile = (name) => inRoot('.cache', 'stamps', `${name}.sha256`);

/** Content hash over texts; the order counts. */
export function digest(texts) {
  const sha = createHash('sha256');
  for (const text of texts) sha.update(text).update('\0');
  return sha.digest('hex');
}

export const readText = (...parts) => readFileSync(inRoot(...parts), 'utf8');

/** Whether the step `name` was finished for exactly this content. */
export function isStamped(name, hash) {
  const file = stampFile(name);
  return existsSync(file) && readFileSync(file, 'utf8') === hash;
}

/** Written after a step succeeded, so that an interrupted one is done again. */
export function stamp(name, hash) {
  mkdirSync(dirname(stampFile(name)), { recursive: true });
  writeFileSync(stampFile(name), hash);
}

/** Every package.json of the workspace, relative to the root. */
export function manifests() {
  const nested = ['packages', 'apps'].flatMap((folder) =>
    readdirSync(inRoot(folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(folder, entry.name, 'package.json')),
  );
  return ['package.json', 'native/package.json', 'bench/package.json', ...nested].filter((file) =>
    existsSync(inRoot(file)),
  );
}

/** Environment for turbo: it calls the pnpm of this workspace by name, and reports nothing. */
export const turboEnv = {
  TURBO_TELEMETRY_DISABLED: '1',
  PATH: [inRoot('node_modules', '.bin'), process.env.PATH].join(delimiter),
};
