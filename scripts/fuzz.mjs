/**
 * Fuzzes for longer than the tests do: each target for a time, with a random seed or a given one.
 *
 * usage: npm run fuzz -- [--seconds N] [--seed N] [--target NAME] [--path PATH]
 *   --seconds  per target; default 60
 *   --seed     repeats a run; default: a random one, which is printed
 *   --target   only this one; without, all of them one after another
 *   --path     the failing input of a run, as its report names it
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { inRoot } from './setup/paths.mjs';

const FILE = 'test/fuzz.test.ts';

/** Packages and the targets that they declare. */
function targets() {
  const found = [];
  for (const name of readdirSync(inRoot('packages')).sort()) {
    let text;
    try {
      text = readFileSync(inRoot('packages', name, FILE), 'utf8');
    } catch {
      continue;
    }
    for (const [, target] of text.matchAll(/^fuzz\(\s*'([\w-]+)'/gm)) found.push({ name, target });
  }
  return found;
}

function run({ name, target }, env) {
  const args = ['run', FILE, '-t', `^fuzz ${target}:`, '--reporter=default', '--disableConsoleIntercept'];
  const child = spawn(inRoot('node_modules', '.bin', 'vitest'), args, {
    cwd: inRoot('packages', name),
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  return new Promise((resolve) => child.on('close', (code) => resolve(code === 0)));
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    target: { type: 'string' },
    path: { type: 'string' },
  },
});

const all = targets();
const chosen = values.target === undefined ? all : all.filter(({ target }) => target === values.target);
if (chosen.length === 0) {
  console.error(`there is no target '${values.target}'; there are ${all.map(({ target }) => target).join(', ')}`);
  process.exit(2);
}
const env = {
  NEREID_FUZZ_SECONDS: values.seconds,
  ...(values.seed !== undefined && { NEREID_FUZZ_SEED: values.seed }),
  ...(values.path !== undefined && { NEREID_FUZZ_PATH: values.path }),
};
let isGood = true;
for (const one of chosen) isGood = (await run(one, env)) && isGood;
process.exit(isGood ? 0 : 1);
