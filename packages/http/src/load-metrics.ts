/**
 * How loaded a model is, told to balancers with the answer to a request that asks for it: `endpoint-load-metrics-format: json` or `text` brings
 * `endpoint-load-metrics: JSON {"named_metrics":{…}}` or `TEXT named_metrics.<name>=<value>`. Source: Open Request Cost Aggregation (ORCA), native headers.
 */
import type { IncomingMessage } from 'node:http';
import type { ModelTarget } from '@nereid/protocol';
import type { InferenceEngine } from '@nereid/serving';

const ASKED = 'endpoint-load-metrics-format';
const TOLD = 'endpoint-load-metrics';

/** The header, as `writeHead` takes it; empty when it is not asked for, or asked for in another form. */
export function loadHeader(
  { headers }: IncomingMessage,
  { engine, target }: { readonly engine: InferenceEngine; readonly target: ModelTarget },
): readonly string[] {
  const format = headers[ASKED];
  if (format !== 'json' && format !== 'text') return [];
  const pending = pendingOf(engine, target);
  if (pending === undefined) return [];
  const value =
    format === 'json'
      ? `JSON {"named_metrics":{"pending_requests":${pending}}}`
      : `TEXT named_metrics.pending_requests=${pending}`;
  return [TOLD, value];
}

/** Requests that wait for an instance of the model; undefined when it has gone meanwhile. */
function pendingOf(engine: InferenceEngine, { modelName, modelVersion }: ModelTarget): number | undefined {
  try {
    return engine.pendingRequests(modelName, modelVersion);
  } catch {
    return undefined;
  }
}
