/** The addon called from JavaScript in a loop, without any server: on the calling thread, and through the instance thread with N batches in flight. Prints JSON lines. */
import { loadAoti } from '@nereid/native';
import { batch, instanceOptions, modelFile } from './workload.mjs';

const SECONDS = Number(process.argv[2] ?? 1);
const model = await loadAoti({ path: modelFile, modelName: 'model', numRunners: 1, device: -1 });

let onComplete = () => {};
const instance = model.createInstance({ ...instanceOptions, onComplete: (error) => onComplete(error) });

function callsPerSecondInLine() {
  const start = performance.now();
  let calls = 0;
  for (; performance.now() - start < SECONDS * 1000; calls++) instance.executeSync(batch);
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
for (const depth of [1, 16, 64])
  console.log(
    JSON.stringify({
      name: `instance thread, ${depth} in flight`,
      depth,
      callsPerSecond: await callsPerSecondInFlight(depth),
    }),
  );
await instance.close();
await model.close();
