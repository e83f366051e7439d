/**
 * Sets everything up and serves the example models.
 *
 * usage: npm start [-- OPTIONS of `nereid serve`]      serve until stopped
 *        npm start -- --smoke                          infer once over HTTP, print the result, exit
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { inRoot } from './setup/paths.mjs';
import { Problem } from './setup/problem.mjs';
import { runMain, setUp } from './setup.mjs';

const REPOSITORY = inRoot('examples', 'model_repository');
const SMOKE_MODEL = 'mlp';

function serve(args, stdio) {
  const nereid = inRoot('apps', 'cli', 'bin', 'nereid.js');
  return spawn(process.execPath, [nereid, 'serve', '--model-repository', REPOSITORY, ...args], { stdio });
}

/** Address from the line that the server prints when it listens. */
async function listening(server) {
  for await (const line of createInterface({ input: server.stdout })) {
    console.log(line);
    const address = /https?:\/\/[^\s]+/.exec(line)?.[0];
    if (address) return address;
  }
  throw new Problem('the server ended before it listened; what it printed is above.');
}

async function inferOnce(address) {
  const features = Array.from({ length: 64 }, (_, index) => index / 64);
  const body = { inputs: [{ name: 'INPUT__0', datatype: 'FP32', shape: [1, 64], data: features }] };
  const url = `${address}/v2/models/${SMOKE_MODEL}/infer`;
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Problem(`inference failed with status ${response.status}: ${answer.error}`);
  return answer;
}

async function smoke(args) {
  const server = serve(['--http-port', '0', '--log-format', 'default', ...args], ['ignore', 'pipe', 'inherit']);
  try {
    const address = await listening(server);
    server.stdout.resume();
    console.log(
      `\nPOST /v2/models/${SMOKE_MODEL}/infer answers:\n${JSON.stringify(await inferOnce(address), undefined, 2)}`,
    );
  } finally {
    if (server.exitCode === null) {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
  }
}

await runMain(async () => {
  const args = process.argv.slice(2);
  await setUp({ withTests: false });
  if (args.includes('--smoke')) return smoke(args.filter((arg) => arg !== '--smoke'));
  const server = serve(args, 'inherit');
  // A terminal sends SIGINT to the server as well; twice would end it without letting requests finish.
  process.removeAllListeners('SIGINT').on('SIGINT', () => {});
  process.removeAllListeners('SIGTERM').on('SIGTERM', () => server.kill('SIGTERM'));
  const [code] = await once(server, 'exit');
  return code ?? 1;
});
