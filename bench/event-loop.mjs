/**
 * Delay of the event loop of a serving process while a model keeps its own thread busy for 200 ms at a time.
 *
 * usage: node bench/event-loop.mjs [--seconds S]
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { openLog, optionsFromFlags, parseFlags, startServer } from '@nereid/server';
import { root } from './src/workload.mjs';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } });
const CONFIG = `backend: "pytorch"
platform: "pytorch_libtorch"
input [ { name: "x" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 1 ] } ]
parameters { key: "INTRA_OP_THREAD_COUNT" value { string_value: "1" } }
`;

const repository = mkdtempSync(join(tmpdir(), 'nereid-bench-'));
mkdirSync(join(repository, 'slow', '1'), { recursive: true });
cpSync(join(root, '.cache', 'models', 'native_torchscript', 'slow.pt'), join(repository, 'slow', '1', 'model.pt'));
writeFileSync(join(repository, 'slow', 'config.pbtxt'), CONFIG);

const { options } = optionsFromFlags(parseFlags(['--model-repository', repository, '--http-port=0']));
const server = await startServer(options, openLog({ ...options.log, info: false }));
const body = JSON.stringify({ inputs: [{ name: 'x', datatype: 'FP32', shape: [1], data: [200] }] });
const infer = async () => {
  const response = await fetch(`${server.url}/v2/models/slow/infer`, { method: 'POST', body });
  if (!response.ok) throw new Error(await response.text());
};

await infer();
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const end = performance.now() + Number(values.seconds) * 1000;
let runs = 0;
for (; performance.now() < end; runs++) await infer();
delay.disable();
const ms = (nanoseconds) => Number((nanoseconds / 1e6).toFixed(2));
// The monitor counts its own resolution of 1 ms.
console.table([
  {
    runs,
    'mean run ms': Math.round((Number(values.seconds) * 1000) / runs),
    'delay p50 ms': ms(delay.percentile(50)),
    'delay p99 ms': ms(delay.percentile(99)),
    'delay max ms': ms(delay.max),
  },
]);
await server.stop();
rmSync(repository, { recursive: true });
