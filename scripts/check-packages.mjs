/** Packs every published package and looks at the result as a user's bundler and compiler would: publint, are-the-types-wrong, no workspace paths. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inRoot, manifests, root } from './setup/paths.mjs';

const bin = (name) => inRoot('node_modules', '.bin', name);
const pnpm = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')).packageManager;

const published = manifests()
  .map((file) => ({ folder: dirname(file), manifest: JSON.parse(readFileSync(inRoot(file), 'utf8')) }))
  .filter(({ manifest }) => !manifest.private);

const call = (command, args, cwd = root) => spawnSync(command, args, { cwd, encoding: 'utf8' });

function pack(target) {
  const filters = published.flatMap(({ manifest }) => ['--filter', manifest.name]);
  const { status, stdout, stderr } = call('npx', [
    '--yes',
    pnpm,
    '-r',
    ...filters,
    'pack',
    '--pack-destination',
    target,
  ]);
  if (status !== 0) throw new Error(`pnpm pack failed:\n${stdout}${stderr}`);
  return readdirSync(target).map((file) => join(target, file));
}

/** Problems of one packed package. */
function problems(tarball) {
  const manifest = JSON.parse(call('tar', ['-xOf', tarball, 'package/package.json']).stdout);
  const found = [];
  if (JSON.stringify(manifest).includes('workspace:')) found.push('a dependency still says "workspace:"');
  if (JSON.stringify(manifest.exports).includes('@nereid/source'))
    found.push('exports still names the "@nereid/source" condition');
  if (manifest.scripts?.install ?? manifest.scripts?.postinstall) found.push('it has an install script');
  const files = call('tar', ['-tf', tarball]).stdout;
  for (const file of ['README.md', 'LICENSE']) if (!files.includes(`package/${file}`)) found.push(`${file} is missing`);
  const lint = call(bin('publint'), ['run', tarball, '--strict']);
  if (lint.status !== 0) found.push(lint.stdout + lint.stderr);
  // A command without an importable entry has no types to look at.
  if (manifest.exports['.']) {
    const types = call(bin('attw'), [tarball, '--profile', 'esm-only', '--format', 'ascii', '--no-emoji']);
    if (types.status !== 0) found.push(types.stdout + types.stderr);
  }
  return { name: manifest.name, found };
}

const target = mkdtempSync(join(tmpdir(), 'nereid-pack-'));
try {
  const reports = pack(target).map(problems);
  for (const { name, found } of reports)
    console.log(found.length === 0 ? `${name}: ok` : `${name}:\n  ${found.join('\n  ')}`);
  process.exitCode = reports.every(({ found }) => found.length === 0) ? 0 : 1;
} finally {
  rmSync(target, { recursive: true });
}
