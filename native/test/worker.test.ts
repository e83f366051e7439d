import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { bytes, compiled, numbers, Session, scripted, vectors } from './support.ts';

/** Loads a model in a worker and answers `run` messages; with `flood` it submits without end and never waits. */
const PROGRAM = `
  import { parentPort, workerData } from 'node:worker_threads';
  import { loadAoti, loadTorchScript } from '@nereid/native';
  const { path, aoti, flood, batch } = workerData;
  const model = aoti
    ? await loadAoti({ path, modelName: 'model', numRunners: 1, device: -1 })
    : await loadTorchScript({ path, inferenceMode: true, device: -1 });
  const instance = model.createInstance({
    name: 'worker', intraOpThreads: 1, inferenceMode: true, optimizedExecution: true, batching: aoti,
    inputs: [{ datatype: 11, key: '' }], outputs: [{ index: 0, key: '' }],
    onComplete: (error, outcome) => {
      parentPort.postMessage(error ? error.message : [...new Float32Array(outcome.outputs[0].data)].slice(0, 1));
      if (flood) instance.execute(batch);
    },
  });
  for (let i = 0; i < (flood ? 50 : 1); i++) instance.execute(batch);
  if (!flood) { await instance.close(); await model.close(); }
`;

function start(workerData: object): Worker {
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(resolved(PROGRAM))}`), { workerData });
}

/** A module without a file resolves no package names. */
function resolved(program: string): string {
  return program.replace("'@nereid/native'", JSON.stringify(new URL('../loader.js', import.meta.url).href));
}

const double = { path: scripted('double'), aoti: false, flood: false, batch: vectors(bytes(4)) };
const large = { buffers: [new Uint8Array(2 ** 16)], rows: [1], shapes: [1, 2 ** 14] };

test('a worker loads, runs, closes and ends by itself', async () => {
  const worker = start(double);
  // Both may come in one turn, so that who listens for the second only then listens too late.
  const [message, exit] = [once(worker, 'message'), once(worker, 'exit')];
  expect(await message).toEqual([[8]]);
  expect(await exit).toEqual([0]);
});

test('several workers and the main thread use the addon at once', async () => {
  await using session = await Session.torchScript('double');
  const workers = [start(double), start(double), start(double)];
  const messages = workers.map((worker) => once(worker, 'message'));
  expect(numbers((await session.run(vectors(bytes(1)))).outputs[0])).toEqual([2]);
  expect(await Promise.all(messages)).toEqual([[[8]], [[8]], [[8]]]);
});

test.each([
  { what: 'small batches', workerData: { ...double, flood: true } },
  {
    what: 'batches that fail',
    workerData: { ...double, path: scripted('positive'), flood: true, batch: vectors(bytes(-1)) },
  },
  { what: 'large results', workerData: { ...double, flood: true, batch: large } },
  { what: 'slow batches', workerData: { ...double, path: scripted('slow'), flood: true, batch: vectors(bytes(3)) } },
  {
    what: 'a compiled package',
    workerData: {
      path: compiled('mlp'),
      aoti: true,
      flood: true,
      batch: { buffers: [new Uint8Array(256)], rows: [1], shapes: [2, 1, 64] },
    },
  },
])('a worker is terminated amid $what, ten times', async ({ workerData }) => {
  for (let i = 0; i < 10; i++) {
    const worker = start(workerData);
    await once(worker, 'message');
    expect(await worker.terminate()).toBe(1);
  }
});

test('a worker is terminated while it loads', async () => {
  for (let i = 0; i < 10; i++) {
    const worker = start({ path: compiled('mlp'), aoti: true, flood: true, batch: large });
    await once(worker, 'online');
    await worker.terminate();
  }
  await using session = await Session.torchScript('double');
  expect(numbers((await session.run(vectors(bytes(1)))).outputs[0])).toEqual([2]);
});
