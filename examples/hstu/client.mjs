/** The same without any library: client.mjs ITEM ... [--url URL] [--top N] */
import { parseArgs } from 'node:util';

const EPISODES = 10;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { url: { type: 'string', default: 'http://127.0.0.1:8000' }, top: { type: 'string', default: '5' } },
});
const items = positionals.map(Number);
const inputs = [{ name: 'INPUT__0', datatype: 'INT64', shape: [1, items.length], data: items }];
const response = await fetch(`${values.url}/v2/models/hstu/infer`, {
  method: 'POST',
  body: JSON.stringify({ inputs, outputs: [{ name: 'OUTPUT__1' }] }),
});
const answer = await response.json();
if (!response.ok) throw new Error(answer.error);
for (const [index, item] of answer.outputs[0].data.slice(0, Number(values.top)).entries()) {
  const series = Math.floor((item - 1) / EPISODES);
  console.log(`${index + 1}. item ${item}: series ${series}, episode ${item - series * EPISODES}`);
}
