/** The steps of setting up, in order. Each is idempotent: it knows from content hashes whether there is something to do. */
import { existsSync, rmSync } from 'node:fs';
import { digest, inRoot, isStamped, manifests, readText, stamp, turboEnv, venvBin } from './paths.mjs';
import { Problem } from './problem.mjs';
import { activePythonHasTorch, missingBuildTools, python } from './requirements.mjs';
import { run } from './run.mjs';

const PERF_ANALYZER_REQUIREMENTS = ['scripts', 'setup', 'requirements-perf-analyzer.txt'];
const OFFLINE = 'Is the network reachable? Run the same command again to continue.';

const nodePackages = {
  title: 'Node packages',
  hash: () =>
    digest([
      process.version,
      readText('pnpm-lock.yaml'),
      readText('pnpm-workspace.yaml'),
      ...manifests().map((file) => readText(file)),
    ]),
  isThere: () => existsSync(inRoot('node_modules', '.modules.yaml')),
  async run() {
    const pnpm = JSON.parse(readText('package.json')).packageManager;
    await run('npx', ['--yes', pnpm, 'install', '--frozen-lockfile'], { remedy: OFFLINE });
  },
};

/** `withTests` adds what only tests need. Installing goes into `.venv`, never into the Python it was made from. */
function pythonEnvironment(withTests) {
  const files = ['requirements.txt', ...(withTests ? ['requirements-test.txt'] : [])];
  const texts = files.map((file) => readText('scripts', 'setup', file));
  return {
    title: withTests ? 'Python environment with PyTorch and test clients' : 'Python environment with PyTorch',
    stamp: withTests ? 'python-tests' : 'python',
    hash: () => digest(texts),
    isThere: () => existsSync(venvBin('pip')),
    async run() {
      if (!existsSync(venvBin('pip'))) {
        const torch = /^torch==(.+)$/m.exec(texts[0])?.[1];
        const shared = activePythonHasTorch(torch) ? ['--system-site-packages'] : [];
        await run(python, ['-m', 'venv', '--clear', ...shared, inRoot('.venv')]);
      }
      const requirements = files.flatMap((file) => ['-r', inRoot('scripts', 'setup', file)]);
      await run(venvBin('pip'), ['install', '--disable-pip-version-check', ...requirements, ...missingBuildTools()], {
        remedy: OFFLINE,
      });
    },
  };
}

const addon = {
  title: 'Native addon',
  run: () => run(process.execPath, [inRoot('native', 'scripts', 'build.mjs')]),
};

const build = {
  title: 'TypeScript packages',
  run: () => run(inRoot('node_modules', '.bin', 'turbo'), ['run', 'build'], { env: turboEnv }),
};

const models = (withTests) => ({
  title: withTests ? 'Example and test models' : 'Example models',
  run: () => run(venvBin('python'), [inRoot('scripts', 'export_models.py'), ...(withTests ? [] : ['--examples'])]),
});

/** A release of the Python client that brings the program; beside `.venv`, whose client is newer. */
const perfAnalyzer = {
  title: 'Load tool perf_analyzer',
  hash: () => digest([readText(...PERF_ANALYZER_REQUIREMENTS)]),
  isThere: () => existsSync(inRoot('.cache', 'perf-analyzer', 'bin', 'perf_analyzer')),
  async run() {
    const target = inRoot('.cache', 'perf-analyzer');
    rmSync(target, { recursive: true, force: true });
    const args = ['install', '--disable-pip-version-check', '--no-deps', '--target', target];
    await run(venvBin('pip'), [...args, '-r', inRoot(...PERF_ANALYZER_REQUIREMENTS)], { remedy: OFFLINE });
    if (this.isThere()) return;
    throw new Problem(
      `the tritonclient of ${PERF_ANALYZER_REQUIREMENTS.join('/')} has no perf_analyzer for ${process.platform} on ${process.arch}: run the tests on Linux on x64.`,
    );
  },
};

/** Every step; `withTests` also brings what only tests need. */
export const steps = ({ withTests }) => [
  nodePackages,
  pythonEnvironment(withTests),
  addon,
  build,
  models(withTests),
  ...(withTests ? [perfAnalyzer] : []),
];

/** Runs one step unless its content is what it was when it last succeeded. */
export async function perform(step) {
  const hash = step.hash?.();
  const name = step.stamp ?? step.title.toLowerCase().replaceAll(' ', '-');
  if (hash !== undefined && isStamped(name, hash) && step.isThere()) return;
  await step.run();
  if (hash !== undefined) stamp(name, hash);
}
