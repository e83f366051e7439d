/**
 * Sets a fresh checkout up: Node packages, Python environment with PyTorch, native addon, TypeScript build, models.
 * Idempotent, quick when there is nothing to do, and an interrupted run is continued by the next one.
 *
 * usage: node scripts/setup.mjs [--with-tests]
 */
import { rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { lock } from './setup/lock.mjs';
import { Problem } from './setup/problem.mjs';
import { checkRequirements } from './setup/requirements.mjs';
import { logFile } from './setup/run.mjs';
import { perform, steps } from './setup/steps.mjs';

export async function setUp({ withTests }) {
  checkRequirements();
  const release = lock();
  rmSync(logFile, { force: true });
  const list = steps({ withTests });
  for (const [index, step] of list.entries()) {
    const start = performance.now();
    const label = `[${index + 1}/${list.length}] ${step.title}`;
    if (process.stdout.isTTY) process.stdout.write(`${label} …`);
    else console.log(`${label} …`);
    await perform(step);
    console.log(
      `${process.stdout.isTTY ? '\r' : ''}${label}: ready after ${((performance.now() - start) / 1000).toFixed(1)} s`,
    );
  }
  release();
}

/** Runs a script's main function; a `Problem` is shown as its sentence, anything else as the defect it is. */
export async function runMain(main) {
  const stop = (signal) => process.on(signal, () => process.exit(signal === 'SIGINT' ? 130 : 143));
  stop('SIGINT');
  stop('SIGTERM');
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    console.error(error instanceof Problem ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await runMain(() => setUp({ withTests: process.argv.includes('--with-tests') }));
}
