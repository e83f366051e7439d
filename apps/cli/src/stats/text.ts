/** Statistics of a model version, for people. */
import type { ModelStatistics } from '@nereid/client';
import { printable } from '../output/printable.ts';
import type { Paint } from '../output/style.ts';
import { renderTable } from '../output/table.ts';

/** What the reasons mean, for those that their name does not tell. */
const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['preferred-size', 'a preferred size was reached'],
  ['full', 'the largest size was reached, or the next request would have exceeded it'],
  ['shape-change', 'the next request had other inputs'],
  ['custom-strategy', 'the batching strategy kept the next request out'],
  ['delay', 'the queue delay was over'],
  ['instance-idle', 'an instance was free and no delay is set'],
  ['double-buffering', 'half of the requests were there, while the other half ran'],
  ['timeout', 'a request would have timed out in the queue'],
  ['stopping', 'the model was unloaded'],
]);

/** Ends with a newline. */
export function statisticsText(statistics: ModelStatistics, paint: Paint): string {
  const { name, version, success, fail, inferenceCount, executionCount } = statistics;
  const head = paint('bold', printable(`${name} version ${version}`));
  if (success.count + fail.count === 0) return `${head}: no requests yet\n`;
  const failed = fail.count === 0 ? '' : `, ${fail.count} failed`;
  const work = `${counted(success.count, 'request')} answered${failed}, ${counted(inferenceCount, 'row')} in ${counted(executionCount, 'execution')}`;
  const parts = [timesText(statistics), sizeTable(statistics, paint), reasonTable(statistics, paint)];
  return [`${head}: ${work}\n`, ...parts].join('');
}

function timesText({ success, queue, computeInput, computeInfer, computeOutput }: ModelStatistics): string {
  if (success.count === 0) return '';
  const parts = [
    `${mean(queue)} in the queue`,
    `${mean(computeInput)} for inputs`,
    `${mean(computeInfer)} running`,
    `${mean(computeOutput)} for outputs`,
  ];
  return `  a request took ${mean(success)} on average: ${parts.join(', ')}\n`;
}

function sizeTable({ batches }: ModelStatistics, paint: Paint): string {
  const total = batches.reduce((sum, { computeInfer }) => sum + computeInfer.count, 0);
  const rows = batches.map(({ batchSize, computeInfer }) => [
    String(batchSize),
    String(computeInfer.count),
    share(computeInfer.count, total),
    mean(computeInfer),
  ]);
  return rows.length === 0 ? '' : renderTable(rows, { head: ['batch size', 'executions', 'share', 'running'], paint });
}

function reasonTable({ batching }: ModelStatistics, paint: Paint): string {
  const reasons = Object.entries(batching?.closed ?? {})
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a);
  const total = reasons.reduce((sum, [, count]) => sum + count, 0);
  const rows = reasons.map(([reason, count]) => [
    reason,
    String(count),
    share(count, total),
    MEANINGS.get(reason) ?? '',
  ]);
  return rows.length === 0 ? '' : renderTable(rows, { head: ['closed for', 'batches', 'share', 'that is'], paint });
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function share(count: number, total: number): string {
  return `${((count / total) * 100).toFixed(0)} %`;
}

function mean({ count, ns }: ModelStatistics['success']): string {
  return count === 0 ? '0 ms' : `${(ns / count / 1e6).toFixed(3)} ms`;
}
