import type { ParsedFlags } from './flags/layer.ts';
import { type MetricsConfig, readMetricsConfig } from './metrics-config.ts';
import { socketPath } from './unix-socket.ts';

const LOOPBACK = '127.0.0.1';

export interface MetricsFrontOptions extends MetricsConfig {
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Between two readings of the machine's CPU time. */
  readonly intervalMs: number;
  /** Whether the use of the machine is told. */
  readonly cpu: boolean;
}

/** The metrics endpoint that a command line asks for; undefined for none. */
export function metricsFromFlags(
  { values, given }: Pick<ParsedFlags, 'values' | 'given'>,
  addressOf: (text: string) => string,
): MetricsFrontOptions | undefined {
  const config = readMetricsConfig(values['metrics-config']);
  if (!values['allow-metrics']) return undefined;
  // As for gRPC: who takes any port for one protocol wants several servers side by side.
  const takesAny = !given.has('metrics-port') && given.has('http-port') && values['http-port'] === 0;
  const httpAddress = addressOf(values['http-address']);
  return {
    // A collector has no use for a socket in the file system.
    address: addressOf(values['metrics-address']) || (socketPath(httpAddress) === undefined ? httpAddress : LOOPBACK),
    port: takesAny ? 0 : values['metrics-port'],
    intervalMs: values['metrics-interval-ms'],
    cpu: values['allow-cpu-metrics'],
    ...config,
  };
}
