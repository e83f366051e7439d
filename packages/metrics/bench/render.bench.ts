/** What a scrape costs the event loop: statistics of every version are read and written. */
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
  timeout: 0,
  stopping: 0,
};
const sizes = [1, 2, 4, 8, 16, 32].map((batchSize) => ({ batchSize, count: 1000 * batchSize }));

const modelsOf = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    statisticsOf({ name: `model_${i}`, metricTags: new Map([['team', 'search']]), batching: { sizes, closed } }),
  );

describe('a scrape', () => {
  for (const count of [1, 10, 100]) {
    const engine = engineOf(...modelsOf(count));
    bench(`of ${count} models that form batches`, () => {
      renderMetrics(engine);
    });
  }
});
