/** What a server says about itself when it is up: a table of models for people, log lines for programs. */
import type { ModelRow } from '@nereid/serving';
import type { Log } from './log.ts';
import { renderTable, wrap } from './table.ts';

const REASON_WIDTH = 80;

export function announceModels(rows: readonly ModelRow[], log: Log): void {
  if (log.format === 'json') {
    for (const { name, version, state, reason, instances, threads } of rows) {
      log.info({ model: name, version, state, reason, instances: instances.length, threads }, 'model');
    }
    return;
  }
  log.print(`${renderTable(['Model', 'Version', 'State', 'Instances', 'Threads', 'Reason'], rows.map(cells))}\n`);
}

function cells({ name, version, state, reason, instances, threads }: ModelRow): readonly string[] {
  return [
    name,
    version ?? '-',
    state ?? 'UNAVAILABLE',
    instances.length === 0 ? '-' : String(instances.length),
    threads === undefined ? '-' : String(threads),
    wrap(reason ?? '', REASON_WIDTH),
  ];
}

/** @param place  `host:port` */
export function announceGrpc(place: string, log: Log): void {
  if (log.format === 'json') log.info({ place }, `Started GRPCInferenceService at ${place}`);
  else log.print(`Started GRPCInferenceService at ${place}\n`);
}

/** @param place  `host:port` */
export function announceMetrics(place: string, log: Log): void {
  if (log.format === 'json') log.info({ place }, `Started Metrics Service at ${place}`);
  else log.print(`Started Metrics Service at ${place}\n`);
}

/** @param url  as `HttpFrontEnd.url` */
export function announceAddress(url: string, log: Log): void {
  const place = new URL(url).host || url;
  if (log.format === 'json') log.info({ url }, `Started HTTPService at ${place}`);
  else log.print(`Started HTTPService at ${place}: ${url}\n`);
}
