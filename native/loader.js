/** Loads the addon; works in every thread of a process, any number of times. If it cannot, the error says what was tried and what to do. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { BatchStrategyLibrary } from './lib/batch-strategy.js';
import { wrapModel } from './lib/crossing.js';
import { describeSearch, findLibtorch, libtorchVersion, TORCH_RELEASE } from './lib/find-libtorch.js';
import { addonFile, packageRoot, readStamp } from './lib/paths.js';

const NAPI_VERSION = 9;
const require = createRequire(import.meta.url);

/** The addon was not found or not accepted by the operating system. `attempts` are the files tried, each with the reason. */
class AddonLoadError extends Error {
  code = 'UNAVAILABLE';

  constructor(attempts) {
    super(explain(attempts));
    this.name = 'AddonLoadError';
    this.attempts = attempts;
  }
}

function load() {
  const attempts = [];
  for (const file of [addonFile]) {
    const reason = unfit(file);
    if (reason !== undefined) {
      attempts.push({ file, reason });
      continue;
    }
    try {
      return require(file);
    } catch (error) {
      attempts.push({ file, reason: error.message });
    }
  }
  throw new AddonLoadError(attempts);
}

/** Why a file is not even tried. A LibTorch that was replaced since the build would crash rather than refuse. */
function unfit(file) {
  if (!existsSync(file)) return 'not built yet';
  if (Number(process.versions.napi) < NAPI_VERSION)
    return `needs Node-API ${NAPI_VERSION}, this Node has ${process.versions.napi}`;
  const stamp = readStamp();
  if (stamp === undefined) return 'its build was not finished';
  const version = libtorchVersion(stamp.libtorch.directory);
  if (version === undefined) return `built against the LibTorch at ${stamp.libtorch.directory}, which is gone`;
  if (version !== stamp.libtorch.version) {
    return `built against LibTorch ${stamp.libtorch.version}, but ${stamp.libtorch.directory} now holds ${version}`;
  }
  return undefined;
}

function explain(attempts) {
  const search = findLibtorch();
  const steps = [
    ...(search.found
      ? []
      : [`install PyTorch: pip install "torch==${TORCH_RELEASE}.*", or set NEREID_LIBTORCH to where LibTorch is`]),
    `build the addon: node ${join(packageRoot, 'scripts', 'build.mjs')}`,
  ];
  return [
    `The native addon of @nereid/native cannot be loaded into Node.js ${process.versions.node} on ${process.platform}-${process.arch}.`,
    'Tried:',
    ...attempts.map(({ file, reason }) => `  ${file}: ${reason}`),
    `Required: PyTorch ${TORCH_RELEASE} (LibTorch). Found:`,
    ...describeSearch(search).map((line) => `  ${line}`),
    'What to do:',
    ...steps.map((step, i) => `  ${i + 1}. ${step}`),
  ].join('\n');
}

const addon = load();

// The end of a worker waits for its instances; that of the process does not, whatever they run.
if (isMainThread) process.on('exit', (code) => addon.prepareExit(code));

export const {
  buildInfo,
  initModel,
  loadOperators,
  memoryInfo,
  openAlarm,
  openSequence,
  processSettings,
  releaseBuffers,
  releaseSequence,
} = addon;

export async function loadTorchScript(options) {
  return wrapModel(await addon.loadTorchScript(options));
}

export async function loadAoti(options) {
  return wrapModel(await addon.loadAoti(options));
}

export function openBatchStrategy(options) {
  return new BatchStrategyLibrary(addon, options);
}
