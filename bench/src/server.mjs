/** A server in a process of its own, and what load on it costs. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const URL_PATTERN = /http:\/\/[\w.:]+/;
const run = promisify(execFile);
const here = (file) => fileURLToPath(new URL(file, import.meta.url));
export const NEREID = here('../../apps/cli/bin/nereid.js');

/** Serves a repository on a free port; resolves as `start` does. */
export function serve(repository, options = [], onLine = undefined) {
  const usual = ['--model-repository', repository, '--http-port', '0', '--log-format', 'default'];
  return start([NEREID, 'serve', ...usual, ...options], onLine);
}

/**
 * Starts a Node.js program that prints its URL; resolves with that, those of gRPC and of the metrics if it told them before, the process id, a way to end it, and `nextLine(pattern)`, which
 * resolves with the next line of output that matches. `onLine` is told every line.
 */
export async function start(args, onLine = () => {}) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const nextLine = (pattern) =>
    new Promise((resolve) => {
      const look = (line) => {
        if (!pattern.test(line)) return;
        lines.off('line', look);
        resolve(line);
      };
      lines.on('line', look);
    });
  lines.on('line', onLine);
  let grpcUrl;
  let metricsUrl;
  lines.on('line', (line) => {
    const place = /Started GRPCInferenceService at (\S+)/.exec(line)?.[1];
    if (place) grpcUrl = `http://${place}`;
    const metricsPlace = /Started Metrics Service at (\S+)/.exec(line)?.[1];
    if (metricsPlace) metricsUrl = `http://${metricsPlace}/metrics`;
  });
  const line = await Promise.race([nextLine(URL_PATTERN), once(lines, 'close')]);
  const url = URL_PATTERN.exec(line)?.[0];
  if (url === undefined) throw new Error(`${args.join(' ')} did not start`);
  return { url, grpcUrl, metricsUrl, pid: child.pid, stop: () => child.kill('SIGTERM'), nextLine };
}

/**
 * One HTTP load on one server, with the server's CPU time per request in microseconds: less noisy than throughput when cores are shared. Linux only.
 * @param load  `tensorBytes` 0, the default, is the MLP
 */
export function measure({ url, pid }, { connections, seconds, tensorBytes = 0 }) {
  return measured(pid, ['load.mjs', url, connections, seconds, tensorBytes]);
}

/** One gRPC load on one server, as `measure`; `calls` are those of each connection. */
export function measureGrpc({ grpcUrl, pid }, { connections, calls, seconds, kind = 'unary', tensorBytes = 0 }) {
  return measured(pid, ['grpc-load.mjs', grpcUrl, connections, calls, seconds, kind, tensorBytes]);
}

async function measured(pid, [program, ...args]) {
  const before = cpuMicros(pid);
  const { stdout } = await run(process.execPath, [here(program), ...args.map(String)]);
  const result = JSON.parse(stdout);
  if (result.requests === 0) throw new Error(`${program} ${args.join(' ')} got no answer in its time: give it more`);
  return { ...result, cpuPerRequest: (cpuMicros(pid) - before) / result.requests };
}

/** CPU time that a process has taken, in microseconds. Linux only. */
export function cpuMicros(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  const TICK_MICROS = 10_000;
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
}
