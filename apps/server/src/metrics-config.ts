/** `--metrics-config`: which kinds of latencies are measured, each `key=value`. */
import { quantileFault, type WantedQuantile } from '@nereid/serving';
import { UsageError } from './errors.ts';
import { readBool } from './flags/value.ts';

export interface MetricsConfig {
  readonly counterLatencies: boolean;
  readonly histogramLatencies: boolean;
  /** Quantiles of the summaries; empty for no summaries. */
  readonly summaryQuantiles: readonly WantedQuantile[];
}

/** Those of the original. */
const DEFAULT_QUANTILES: readonly WantedQuantile[] = [
  { quantile: 0.5, error: 0.05 },
  { quantile: 0.9, error: 0.01 },
  { quantile: 0.95, error: 0.001 },
  { quantile: 0.99, error: 0.001 },
  { quantile: 0.999, error: 0.001 },
];

/**
 * The last of a repeated key wins. Quantiles switch no summaries on, as with Triton.
 * @throws {UsageError} for a setting that is none, an unknown key or a bad value
 */
export function readMetricsConfig(settings: readonly string[]): MetricsConfig {
  let [counterLatencies, histogramLatencies, summaryLatencies, quantiles] = [true, false, false, DEFAULT_QUANTILES];
  for (const setting of settings) {
    const [, key, value] = /^([^=]+)=(.+)$/.exec(setting) ?? [];
    if (key === undefined || value === undefined)
      throw new UsageError(`option '--metrics-config' takes key=value, got '${setting}'`);
    const wanted = () => readBool(`option '--metrics-config=${key}'`, value);
    switch (key) {
      case 'counter_latencies':
        counterLatencies = wanted();
        break;
      case 'histogram_latencies':
        histogramLatencies = wanted();
        break;
      case 'summary_latencies':
        summaryLatencies = wanted();
        break;
      case 'summary_quantiles':
        quantiles = readQuantiles(value);
        break;
      default:
        throw new UsageError(`option '--metrics-config' knows ${KEYS.join(', ')}, got '${key}'`);
    }
  }
  return { counterLatencies, histogramLatencies, summaryQuantiles: summaryLatencies ? quantiles : [] };
}

const KEYS = ['counter_latencies', 'histogram_latencies', 'summary_latencies', 'summary_quantiles'];

/** `quantile:error`, separated by commas. Source: Triton's option; there an entry that is none brings the default back without a word. */
function readQuantiles(text: string): readonly WantedQuantile[] {
  const entries = text.split(',').map((entry) => {
    const [, quantile, error] = /^([\d.]+):([\d.]+)$/.exec(entry.trim()) ?? [];
    if (quantile === undefined || error === undefined) throw badQuantiles(`got '${entry}'`);
    const wanted = { quantile: Number(quantile), error: Number(error) };
    const fault = quantileFault(wanted);
    if (fault !== undefined) throw badQuantiles(fault);
    return wanted;
  });
  const names = entries.map(({ quantile }) => quantile);
  const twice = names.find((quantile, i) => names.indexOf(quantile) < i);
  if (twice !== undefined) throw badQuantiles(`got ${twice} twice`);
  return entries;
}

function badQuantiles(why: string): UsageError {
  return new UsageError(
    `option '--metrics-config=summary_quantiles' takes quantile:error, separated by commas, e.g. 0.5:0.05,0.99:0.001; ${why}`,
  );
}
