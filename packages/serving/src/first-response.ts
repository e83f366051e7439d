/** How long requests wait for their first response, failures included: a histogram in whole milliseconds. Source: `nv_inference_first_response_histogram_ms`. */
import type { InferenceRequest, Logger } from '@nereid/core';
import type { ModelConfig } from '@nereid/model-config';
import type { HistogramStatistics } from './engine.ts';
import { Histogram } from './histogram.ts';

const FAMILY = 'nv_inference_first_response_histogram_ms';
const DEFAULT_BOUNDS_MS = [100, 500, 2000, 5000];

export class FirstResponseTimes {
  readonly #histogram: Histogram;
  /** Requests of decoupled models that had their first response and not yet their last. */
  readonly #begun = new Set<InferenceRequest>();

  /** @param boundsMs  upper bounds of the buckets, ascending */
  constructor(boundsMs: readonly number[]) {
    this.#histogram = new Histogram(boundsMs);
  }

  /** A request got a response or failed; only the first time counts. */
  responded(request: InferenceRequest, { nowMicros, final }: { readonly nowMicros: number; readonly final: boolean }) {
    const isFirst = !this.#begun.has(request);
    if (final) this.#begun.delete(request);
    else this.#begun.add(request);
    if (isFirst) this.#histogram.observe(Math.floor((nowMicros - request.arrivedMicros) / 1000));
  }

  snapshot(): HistogramStatistics {
    return this.#histogram.snapshot();
  }
}

/** The buckets that a configuration gives in `model_metrics`, or the default ones. Warns of families that are no histogram. */
export function firstResponseBounds({ modelMetrics }: ModelConfig, logger: Logger): readonly number[] {
  let bounds: readonly number[] = DEFAULT_BOUNDS_MS;
  for (const { metricIdentifier, histogramOptions } of modelMetrics?.metricControl ?? []) {
    if (metricIdentifier?.family === FAMILY) bounds = histogramOptions?.buckets ?? bounds;
    else
      logger.warn({}, `model_metrics: there is no histogram '${metricIdentifier?.family ?? ''}'; expected ${FAMILY}`);
  }
  return bounds;
}
