/** `npm test` and all other checks, with one closing line that sums both. */
import { spawnSync } from 'node:child_process';
import { runChecks } from './check.mjs';
import { root } from './setup/paths.mjs';
import { sumResults } from './suites.mjs';

const { status } = spawnSync('npm', ['test'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
const tests = sumResults();
const checks = runChecks();
const failed = tests.failed + checks.failed;
const total = failed === 0 && status !== 0 ? 1 : failed;
console.log(`${tests.passed + checks.passed} passed, ${total} failed`);
process.exitCode = total === 0 ? 0 : 1;
