import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { packageRoot } from '../../lib/paths.js';

const require = createRequire(import.meta.url);
const SOURCES = ['CMakeLists.txt', 'src'];
const HEADER_PACKAGES = ['node-addon-api', 'node-api-headers', 'cmake-js'];

/** Hash of everything that a build is made from: sources, header packages, and what else the caller names. */
export function hashSources(rest) {
  const sha = createHash('sha256').update(JSON.stringify(rest));
  for (const name of HEADER_PACKAGES) sha.update(`${name}@${require(`${name}/package.json`).version}\0`);
  for (const file of SOURCES.flatMap((source) => filesIn(join(packageRoot, source))).sort()) {
    sha
      .update(`${relative(packageRoot, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return sha.digest('hex');
}

function filesIn(path) {
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    if (error.code === 'ENOTDIR') return [path];
    throw error;
  }
}
