import { isIPv6 } from 'node:net';
import { createMetricsServer } from '@nereid/metrics';
import type { ServingEngine } from '@nereid/serving';
import { StartError } from './errors.ts';
import { closePatiently, type FrontEnd } from './front-end.ts';
import { listenProblem } from './listen-problem.ts';
import type { Log } from './log.ts';
import type { MetricsFrontOptions } from './metrics-options.ts';

/** @throws {StartError} when the port cannot be had */
export async function openMetrics(
  engine: ServingEngine,
  { address, port, intervalMs, cpu, counterLatencies }: MetricsFrontOptions,
  log: Log,
): Promise<FrontEnd> {
  const server = createMetricsServer({ engine, intervalMs, cpu, counterLatencies, logger: log });
  try {
    const bound = await server.listen({ host: address, port });
    return {
      place: `${isIPv6(address) ? `[${address}]` : address}:${bound}`,
      close: () =>
        closePatiently(
          () => server.close(),
          () => server.abort(),
        ),
    };
  } catch (error) {
    throw new StartError(listenProblem(error as NodeJS.ErrnoException, { address, port, protocol: 'metrics' }));
  }
}
