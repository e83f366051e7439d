/** Every check that is not a test: format and lint, types, direction of imports, dead code and undeclared imports, tables of tests, changesets, packed packages. */
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { inRoot, root } from './setup/paths.mjs';

const bin = (name) => inRoot('node_modules', '.bin', name);

const CHECKS = [
  ['format and lint', bin('biome'), ['check', '.']],
  ['types', 'npm', ['run', '--silent', 'typecheck']],
  [
    'direction of imports',
    bin('depcruise'),
    ['--config', '.dependency-cruiser.mjs', 'packages', 'apps', 'native', 'bench'],
  ],
  ['dead code and undeclared imports', bin('knip'), []],
  ['tables of tests', process.execPath, [inRoot('scripts', 'check-test-tables.mjs')]],
  ['changesets', process.execPath, [inRoot('scripts', 'check-changesets.mjs')]],
  ['packed packages', process.execPath, [inRoot('scripts', 'check-packages.mjs')]],
];

/** Runs them all and says how each ended. */
export function runChecks() {
  const outcome = { passed: 0, failed: 0 };
  for (const [title, command, args] of CHECKS) {
    const start = performance.now();
    const { status } = spawnSync(command, args, {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    outcome[status === 0 ? 'passed' : 'failed'] += 1;
    console.log(`${status === 0 ? 'ok' : 'FAILED'}: ${title} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  }
  return outcome;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) process.exitCode = runChecks().failed === 0 ? 0 : 1;
