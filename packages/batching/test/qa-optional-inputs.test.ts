/** Models with optional inputs: a batch holds requests with the same set of inputs, and one without any is a request like others. */
import { requestFor, tensor } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { dynamicFixture } from './dynamic-fixture.ts';

/** `xy` is a request with inputs x and y, `yx` the same in another order, the empty string one without inputs. */
async function batchesOf(requests: readonly string[]): Promise<string[]> {
  const { scheduler, clock, backend } = await dynamicFixture();
  for (const names of requests) {
    const inputs = [...names].map((name) => tensor({ name, shape: [1, 2], values: [1, 2] }));
    scheduler.enqueue(requestFor({ id: names, inputs }));
  }
  await clock.elapse(0);
  return backend.batches.map((batch) => batch.requests.map(({ id }) => id || 'none').join());
}

describe('batches of a model with optional inputs', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['are split by the set of inputs', ['x', 'x', 'xy', 'xy', 'x'], ['x,x', 'xy,xy', 'x']],
    ['do not depend on the order in which inputs are sent', ['xy', 'yx', 'xy'], ['xy,yx,xy']],
    ['know sets of the same size apart', ['x', 'y', 'y'], ['x', 'y,y']],
    ['join requests without any input', ['', '', 'x', ''], ['none,none', 'x', 'none']],
  ])('%s', async (_, requests, batches) => {
    expect(await batchesOf(requests)).toEqual(batches);
  });
});
