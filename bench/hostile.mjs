/**
 * What hostile clients do to others: beside each attack a client that keeps to the rules, over HTTP and gRPC, and the longest time that the event loop of the server
 * worked at one thing, in processor time. Each attack is made of waves that are repeated for a time.
 *
 * usage: node bench/hostile.mjs [--attack PATTERN] [--seconds S] [--passes N] [--json]
 *   --attack   only those whose name matches the regular expression
 *   --seconds  for each, at least; default 3. One wave is always made
 *   --passes   over all attacks, each followed by a row of what the server holds once they are over; default 1
 *   --json     rows as JSON instead of a table
 */
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { ATTACKS } from './src/attacks.mjs';
import { NEREID, start } from './src/server.mjs';
import { root } from './src/workload.mjs';

const { values } = parseArgs({
  options: {
    attack: { type: 'string', default: '' },
    seconds: { type: 'string', default: '3' },
    passes: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds);
const run = promisify(execFile);
const here = (file) => fileURLToPath(new URL(file, import.meta.url));

const IDENTITY = `backend: "pytorch"
platform: "pytorch_libtorch"
input [ { name: "x" data_type: TYPE_UINT8 dims: [ -1 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_UINT8 dims: [ -1 ] } ]
`;

function writeRepository() {
  const repository = mkdtempSync(join(tmpdir(), 'nereid-hostile-'));
  mkdirSync(join(repository, 'identity', '1'), { recursive: true });
  cpSync(join(root, '.cache', 'models', 'identity', 'model.pt'), join(repository, 'identity', '1', 'model.pt'));
  writeFileSync(join(repository, 'identity', 'config.pbtxt'), IDENTITY);
  cpSync(join(root, 'examples', 'model_repository', 'strings'), join(repository, 'strings'), { recursive: true });
  return repository;
}

const repository = writeRepository();
const server = await start([
  ...['--expose-gc', '--import', here('src/loop-probe.mjs')],
  ...[
    NEREID,
    'serve',
    '--model-repository',
    repository,
    '--http-port',
    '0',
    '--grpc-port',
    '0',
    '--log-format',
    'default',
  ],
]);
const victim = fork(here('src/victim.mjs'), [server.url, server.grpcUrl]);

/** What the probe in the server says. */
async function probe() {
  const line = server.nextLine(/^\{"probe":/);
  process.kill(server.pid, 'SIGUSR2');
  return JSON.parse(await line).probe;
}

const SETTLE_MS = 500;
const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length;
const rounded = (number) => Number(number.toFixed(1));

/** One row: what the others meet while `work` goes on. */
async function beside(name, work) {
  await probe();
  victim.send('start');
  await once(victim, 'message');
  const waves = await work();
  victim.send('stop');
  const [seen] = await once(victim, 'message');
  const told = await probe();
  // Connections that were left behind are closed a moment later.
  await wait(100);
  return {
    attack: name,
    waves,
    'longest work ms': rounded(told.workedMs),
    'longest pause ms': rounded(told.passedMs),
    'http p50': rounded(seen.http.p50),
    'http p99': rounded(seen.http.p99),
    'http max': rounded(seen.http.max),
    'grpc p50': rounded(seen.grpc.p50),
    'grpc p99': rounded(seen.grpc.p99),
    'grpc max': rounded(seen.grpc.max),
    failures: seen.failures,
    'used MiB': rounded(told.usedMiB),
    'resident MiB': rounded(told.residentMiB),
    descriptors: descriptors(),
  };
}

async function attack(name) {
  const ports = [server.url, server.grpcUrl].map((url) => new URL(url).port);
  const { stdout } = await run(process.execPath, [
    here('src/attacker.mjs'),
    ...ports,
    name,
    String(seconds * 1000),
    '1000',
  ]);
  return Number(stdout);
}

const idle = async () => {
  await wait(500);
  return 0;
};

/** What clients hold on to is given back when their connections are closed, and what the thread pool inflates when that is done. */
async function settled(pass) {
  await wait(SETTLE_MS);
  return await beside(`none, after pass ${pass}`, idle);
}

const pattern = new RegExp(values.attack);
const rows = [];
try {
  await beside('', idle);
  rows.push(await beside('none', idle));
  for (let pass = 1; pass <= Number(values.passes); pass++) {
    for (const name of Object.keys(ATTACKS).filter((one) => pattern.test(one)))
      rows.push(await beside(name, () => attack(name)));
    rows.push(await settled(pass));
  }
} finally {
  victim.disconnect();
  server.stop();
  rmSync(repository, { recursive: true });
}
if (values.json) console.log(JSON.stringify(rows));
else console.table(rows);
