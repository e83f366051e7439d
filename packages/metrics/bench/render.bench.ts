/** What a scrape costs: all of it, and the longest turn that it takes of the event loop, which is told when the bench ends. */
import { bench, describe } from 'vitest';
import { renderMetrics } from '../src/index.ts';
import { engineOf, statisticsOf } from '../test/fixture.ts';

const closed = {
  'preferred-size': 10,
  full: 20,
  'shape-change': 0,
  'custom-strategy': 0,
  delay: 3,
  'instance-idle': 4,
  'double-buffering': 0,
  timeout: 0,
  stopping: 0,
};
const sizes = [1, 2, 4, 8, 16, 32].map((batchSize) => ({ batchSize, count: 1000 * batchSize }));

const modelsOf = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    statisticsOf({ name: `model_${i}`, metricTags: new Map([['team', 'search']]), batching: { sizes, closed } }),
  );

/** Milliseconds of every turn of a scrape. */
async function turnsOf(engine: Parameters<typeof renderMetrics>[0]): Promise<readonly number[]> {
  const turns: number[] = [];
  let begun = performance.now();
  const nextTurn = async () => {
    turns.push(performance.now() - begun);
    await new Promise((resolve) => setImmediate(resolve));
    begun = performance.now();
  };
  for await (const _ of renderMetrics(engine, { nextTurn }));
  turns.push(performance.now() - begun);
  return turns;
}

describe('a scrape', async () => {
  for (const count of [1000, 100, 10, 1]) {
    const engine = engineOf(...modelsOf(count));
    const first = await turnsOf(engine);
    console.log(`${count} models, first scrape: ${first.length} turns, longest ${Math.max(...first).toFixed(1)} ms`);
    const longest: number[] = [];
    bench(
      `of ${count} models that form batches`,
      async () => {
        longest.push(Math.max(...(await turnsOf(engine))));
      },
      {
        teardown: () => {
          const median = longest.sort((a, b) => a - b)[Math.floor(longest.length / 2)] ?? 0;
          console.log(`${count} models: longest turn ${median.toFixed(1)} ms, median of ${longest.length} scrapes`);
        },
      },
    );
  }
});
