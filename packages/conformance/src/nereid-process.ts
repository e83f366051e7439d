import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const NEREID = fileURLToPath(new URL('../../../apps/cli/bin/nereid.js', import.meta.url));

/** A real server in a process of its own. */
export interface NereidProcess extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** `127.0.0.1:PORT` of gRPC; '' when it is not served. */
  readonly grpcPlace: string;
  /** `127.0.0.1:PORT` of the metrics; '' when they are not served. */
  readonly metricsPlace: string;
  readonly process: ChildProcess;
  /** Everything printed so far, both streams. */
  output(): string;
  /** Ends it with SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Starts `nereid serve` on a free port; resolves once it says where it listens. */
export async function startNereid(
  repositories: readonly string[],
  args: readonly string[] = [],
): Promise<NereidProcess> {
  const places = repositories.flatMap((repository) => ['--model-repository', repository]);
  return startCommand([NEREID, 'serve', ...places, '--http-port', '0', '--log-format', 'default', ...args]);
}

/** Starts Node with arguments that make it a server; resolves once it says where it listens. */
export async function startCommand(argv: readonly string[]): Promise<NereidProcess> {
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  const url = await new Promise<string>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      printed += chunk.toString();
      const found = /http:\/\/[\w.:[\]]+/.exec(printed)?.[0];
      if (found) resolve(found);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('exit', (code) => reject(new Error(`nereid ended with exit code ${code}:\n${printed}`)));
  });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    return child.exitCode;
  };
  const grpcPlace = /Started GRPCInferenceService at (\S+)/.exec(printed)?.[1] ?? '';
  const metricsPlace = /Started Metrics Service at (\S+)/.exec(printed)?.[1] ?? '';
  return {
    url,
    grpcPlace,
    metricsPlace,
    process: child,
    output: () => printed,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}
