/** Running the test suites of the workspace and adding up what they report. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { inRoot, manifests, root, turboEnv } from './setup/paths.mjs';

const suites = () =>
  manifests()
    .map((file) => ({ folder: dirname(file), manifest: JSON.parse(readFileSync(inRoot(file), 'utf8')) }))
    .filter(({ folder, manifest }) => folder !== '.' && manifest.scripts?.test);

const resultsOf = (folder) => inRoot(folder, 'test-results.json');

function clearResults() {
  for (const { folder } of suites()) rmSync(resultsOf(folder), { force: true });
}

async function runTurbo(args) {
  const env = { ...process.env, ...turboEnv, FORCE_COLOR: process.stdout.isTTY ? '1' : '0' };
  const child = spawn(inRoot('node_modules', '.bin', 'turbo'), args, {
    cwd: root,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return (await new Promise((resolve) => child.on('close', resolve))) === 0;
}

/** Sums over all suites. A suite without a results file, and a file that failed outside of any test, each count as one failure. */
export function sumResults() {
  const sum = { passed: 0, failed: 0, skipped: 0, silent: [] };
  for (const { folder, manifest } of suites()) {
    if (!existsSync(resultsOf(folder))) {
      sum.failed += 1;
      sum.silent.push(manifest.name);
      continue;
    }
    const results = JSON.parse(readFileSync(resultsOf(folder), 'utf8'));
    const brokenFiles = results.testResults.filter(
      (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
    );
    sum.passed += results.numPassedTests;
    sum.failed += results.numFailedTests + brokenFiles.length;
    sum.skipped += results.numPendingTests + results.numTodoTests;
  }
  return sum;
}

/**
 * Runs the tests of every package, or those that `args` of turbo select. Unchanged packages are taken from the cache, results included.
 * A run that ended badly without a failed test (a crash, say) counts as one failure.
 */
export async function runTests(args = []) {
  clearResults();
  const ok = await runTurbo(['run', 'test', '--continue', '--concurrency=2', ...args]);
  const sum = sumResults();
  return { ...sum, failed: sum.failed === 0 && !ok ? 1 : sum.failed };
}
