/** `--metrics-config`: which kinds of latencies are measured, each `key=value`. */
import { UsageError } from './errors.ts';
import { readBool } from './flags/parse.ts';

export interface MetricsConfig {
  readonly counterLatencies: boolean;
  readonly histogramLatencies: boolean;
}

/**
 * The last of a repeated key wins.
 * @throws {UsageError} for a setting that is none, an unknown key or a bad value, and for summaries, which are not served
 */
export function readMetricsConfig(settings: readonly string[]): MetricsConfig {
  const config = { counterLatencies: true, histogramLatencies: false };
  for (const setting of settings) {
    const [, key, value] = /^([^=]+)=(.+)$/.exec(setting) ?? [];
    if (key === undefined || value === undefined)
      throw new UsageError(`option '--metrics-config' takes key=value, got '${setting}'`);
    const wanted = () => readBool(`metrics-config=${key}`, value);
    switch (key) {
      case 'counter_latencies':
        config.counterLatencies = wanted();
        break;
      case 'histogram_latencies':
        config.histogramLatencies = wanted();
        break;
      case 'summary_latencies':
        if (wanted()) throw new UsageError(NO_SUMMARIES);
        break;
      case 'summary_quantiles':
        // As with Triton it switches no summaries on; without them it says nothing.
        break;
      default:
        throw new UsageError(`option '--metrics-config' knows ${KEYS.join(', ')}, got '${key}'`);
    }
  }
  return config;
}

const KEYS = ['counter_latencies', 'histogram_latencies', 'summary_latencies', 'summary_quantiles'];
const NO_SUMMARIES =
  '--metrics-config=summary_latencies=true is not served by this version: use histogram_latencies=true, whose quantiles Prometheus computes';
