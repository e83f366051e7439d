/** What a model did so far. */
import { element, table } from './dom.ts';
import type { ShownModel } from './model.ts';
import { describe } from './server.ts';

interface Duration {
  readonly count: number;
  readonly ns: number;
}

interface StatisticsEntry {
  readonly version: string;
  readonly last_inference: number;
  readonly inference_count: number;
  readonly execution_count: number;
  readonly inference_stats: Readonly<Record<string, Duration>>;
  readonly batch_stats: readonly ({ readonly batch_size: number } & Readonly<Record<'compute_infer', Duration>>)[];
}

/** The rows of `inference_stats` that are shown, with their words. */
const ROWS: Readonly<Record<string, string>> = {
  success: 'answered',
  fail: 'failed',
  queue: 'waited in the queue',
  compute_input: 'inputs gathered',
  compute_infer: 'model ran',
  compute_output: 'outputs split',
};

export interface StatisticsPanel {
  readonly node: HTMLElement;
  refresh(): void;
}

export function statisticsPanel({ server, path }: ShownModel): StatisticsPanel {
  const node = element('div', {});
  const read = async () => {
    try {
      const { model_stats: entries } = await server.document<{ readonly model_stats: readonly StatisticsEntry[] }>({
        path: `${path}/stats`,
      });
      node.replaceChildren(...entries.flatMap(entryNodes));
    } catch (thrown) {
      node.replaceChildren(element('p', { class: 'error' }, describe(thrown)));
    }
  };
  return { node, refresh: () => void read() };
}

function entryNodes(entry: StatisticsEntry): readonly Node[] {
  const last = entry.last_inference === 0 ? 'never' : new Date(entry.last_inference).toLocaleString();
  const durations = Object.entries(ROWS).map(([key, text]) => [text, ...durationCells(entry.inference_stats[key])]);
  const batches = entry.batch_stats.map((batch) => [String(batch.batch_size), ...durationCells(batch.compute_infer)]);
  return [
    element('h3', {}, `Version ${entry.version}`),
    element(
      'dl',
      { class: 'facts' },
      fact('rows computed', entry.inference_count.toLocaleString('en')),
      fact('batches run', entry.execution_count.toLocaleString('en')),
      fact('last', last),
    ),
    table('Requests', ['what', 'count', 'mean', 'in all'], durations),
    ...(batches.length === 0 ? [] : [table('Batches', ['rows', 'count', 'mean', 'in all'], batches)]),
  ];
}

const fact = (name: string, value: string) => element('div', {}, element('dt', {}, name), element('dd', {}, value));

function durationCells({ count, ns }: Duration = { count: 0, ns: 0 }): readonly string[] {
  return [count.toLocaleString('en'), count === 0 ? '–' : time(ns / count), time(ns)];
}

function time(ns: number): string {
  if (ns < 1e6) return `${(ns / 1e3).toFixed(1)} µs`;
  return ns < 1e9 ? `${(ns / 1e6).toFixed(2)} ms` : `${(ns / 1e9).toFixed(2)} s`;
}
