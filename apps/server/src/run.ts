/** The life of a server process: options in, signals handled, exit code out. */
import { announceAddress, announceGrpc, announceMetrics, announceModels } from './announce.ts';
import { StartError } from './errors.ts';
import { parseFlags } from './flags/parse.ts';
import { type Log, openLog } from './log.ts';
import { optionsFromFlags } from './options.ts';
import { type RunningServer, startServer } from './start.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Serves until SIGINT or SIGTERM, then lets requests in flight finish within the exit timeout; a second signal ends the process at once.
 *
 * @param argv options, as `nereid serve` takes them
 * @returns exit code: 0 after a clean shutdown, 1 when requests were left at the end of the timeout or the server could not start
 * @throws {UsageError} for a wrong command line
 */
export async function runServer(argv: readonly string[]): Promise<number> {
  const { options, warnings } = optionsFromFlags(parseFlags(argv));
  const log = openLog(options.log);
  try {
    for (const warning of warnings) log.warn({}, warning);
    const signal = firstSignal(log);
    const server = await startServer(options, log);
    announceModels(server.models(), log);
    if (server.grpcPlace !== undefined) announceGrpc(server.grpcPlace, log);
    if (server.metricsPlace !== undefined) announceMetrics(server.metricsPlace, log);
    if (server.url !== undefined) announceAddress(server.url, log);
    await signal;
    return (await stop(server, log)) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    log.error({}, error.message);
    return 1;
  } finally {
    log.close();
  }
}

/** Resolves at the first signal. The second one ends the process with the code that shells give for it. */
function firstSignal(log: Log): Promise<void> {
  return new Promise((resolve) => {
    let count = 0;
    for (const name of SIGNALS) {
      process.on(name, (_: NodeJS.Signals, number: number) => {
        count += 1;
        log.info({}, `Signal (${number}) received.`);
        if (count > 1) process.exit(128 + number);
        resolve();
      });
    }
  });
}

async function stop(server: RunningServer, log: Log): Promise<boolean> {
  const { isComplete, left } = await server.stop();
  if (isComplete) return true;
  for (const { name, version, inFlight } of left)
    log.error({ model: name, version, inFlight }, 'was not unloaded in time');
  log.error({}, 'Exit timeout expired. Exiting immediately.');
  return false;
}
