/** The life of a server process: options in, signals handled, exit code out. */
import { once } from 'node:events';
import type { StopReport } from '@nereid/serving';
import { announceAddress, announceGrpc, announceMetrics, announceModels } from './announce.ts';
import { StartError, StoppedError } from './errors.ts';
import { listSources } from './flags/layer.ts';
import { type ReadFlagsOptions, readFlags } from './flags/read.ts';
import { type Log, openLog } from './log.ts';
import { optionsFromFlags } from './options.ts';
import { type RunningServer, startServer } from './start.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Serves until SIGINT or SIGTERM, then lets requests in flight finish within the exit timeout; a second signal ends the process at once. A signal that comes while
 * models load ends that after the versions that load already.
 *
 * When the timeout has passed the process ends, whatever still runs.
 *
 * @param argv options, as `nereid serve` takes them
 * @returns exit code: 0 after a clean shutdown, 1 when the server could not start
 * @throws {UsageError} for a wrong command line, variable or file of options
 */
export async function runServer(argv: readonly string[], from: ReadFlagsOptions = {}): Promise<number> {
  const flags = await readFlags(argv, from);
  const { options, warnings } = optionsFromFlags(flags);
  const log = openLog(options.log);
  const stopSignal = listenForSignals(log);
  let isClean = true;
  try {
    if (flags.sources.size > 0)
      log.info({}, `options that are not from the command line: ${listSources(flags.sources)}`);
    for (const warning of warnings) log.warn({}, warning);
    const server = await startServer(options, log, { stopSignal });
    announce(server, log);
    await aborted(stopSignal);
    isClean = await stop(server, log);
    return 0;
  } catch (error) {
    if (error instanceof StoppedError) {
      log.info({}, error.message);
      isClean = tellLeft(error.report, log);
      return 0;
    }
    if (!(error instanceof StartError)) throw error;
    log.error({}, error.message);
    return 1;
  } finally {
    await log.close();
    // A model that still runs would keep the process.
    if (!isClean) process.exit(1);
  }
}

function announce(server: RunningServer, log: Log): void {
  announceModels(server.models(), log);
  if (server.grpcPlace !== undefined) announceGrpc(server.grpcPlace, log);
  if (server.metricsPlace !== undefined) announceMetrics(server.metricsPlace, log);
  if (server.url !== undefined) announceAddress(server.url, log);
}

/** Is aborted by the first signal. The second one ends the process with the code that shells give for it. */
function listenForSignals(log: Log): AbortSignal {
  const controller = new AbortController();
  for (const name of SIGNALS) {
    process.on(name, (_: NodeJS.Signals, number: number) => {
      log.info({}, `Signal (${number}) received.`);
      if (controller.signal.aborted) process.exit(128 + number);
      controller.abort();
    });
  }
  return controller.signal;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

async function stop(server: RunningServer, log: Log): Promise<boolean> {
  return tellLeft(await server.stop(), log);
}

/** @returns whether nothing was left */
function tellLeft({ isComplete, left }: StopReport, log: Log): boolean {
  if (isComplete) return true;
  for (const { name, version, inFlight } of left)
    log.error({ model: name, version, inFlight }, 'was not unloaded in time');
  log.error({}, 'Exit timeout expired. Exiting immediately.');
  return false;
}
