/**
 * The addon called from JavaScript in a loop, without any server: on the calling thread, and through the instance thread with N batches in flight. Large results
 * are given back as a server does. Prints JSON lines.
 *
 * usage: node addon-loop.mjs [SECONDS] [TENSOR_BYTES] [DEPTH,DEPTH…]
 */
import { loadAoti, loadTorchScript, releaseBuffers } from '@nereid/native';
import { batchOf, doubleFile, instanceOptions, modelFile } from './workload.mjs';

const SECONDS = Number(process.argv[2] ?? 1);
const TENSOR_BYTES = Number(process.argv[3] ?? 0);
const DEPTHS = (process.argv[4] ?? '1,16,64').split(',').map(Number);

const isLarge = TENSOR_BYTES > 0;
const batch = batchOf(TENSOR_BYTES);
const model = isLarge
  ? await loadTorchScript({ path: doubleFile, inferenceMode: true, device: -1 })
  : await loadAoti({ path: modelFile, modelName: 'model', numRunners: 1, device: -1 });

let onComplete = () => {};
const instance = model.createInstance({
  ...instanceOptions,
  batching: !isLarge,
  onComplete(error, outcome) {
    if (isLarge) release(outcome);
    onComplete(error);
  },
});

function release(outcome) {
  releaseBuffers(outcome.outputs.map(({ data }) => data));
}

function callsPerSecondInLine() {
  const start = performance.now();
  let calls = 0;
  for (; performance.now() - start < SECONDS * 1000; calls++) {
    const outcome = instance.executeSync(batch);
    if (isLarge) release(outcome);
  }
  return Math.round(calls / ((performance.now() - start) / 1000));
}

async function callsPerSecondInFlight(depth) {
  const start = performance.now();
  let calls = 0;
  await new Promise((resolve, reject) => {
    let open = depth;
    onComplete = (error) => {
      if (error) return reject(error);
      calls += 1;
      if (performance.now() - start < SECONDS * 1000) instance.execute(batch);
      else if (--open === 0) resolve();
    };
    for (let i = 0; i < depth; i++) instance.execute(batch);
  });
  return Math.round(calls / ((performance.now() - start) / 1000));
}

instance.executeSync(batch);
console.log(JSON.stringify({ name: 'on the calling thread', callsPerSecond: callsPerSecondInLine() }));
for (const depth of DEPTHS)
  console.log(
    JSON.stringify({
      name: `instance thread, ${depth} in flight`,
      depth,
      callsPerSecond: await callsPerSecondInFlight(depth),
    }),
  );
await instance.close();
await model.close();
