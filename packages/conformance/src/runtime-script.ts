/** What the client's HTTP part does with a real server, printed as JSON. Bundled by its test, and run where there is no Node.js. */
import { ClientError, HttpClient, tensor } from '@nereid/client/http';

/** Put in its place by the bundler. */
declare const SERVER: string;

const client = new HttpClient({ url: SERVER });
const packed = new HttpClient({ url: SERVER, requestCompression: 'gzip', responseCompression: 'gzip' });
const words = tensor({ name: 'words', datatype: 'BYTES', shape: [2, 1], values: ['ahoj', '€uro'] });
const row = tensor({ name: 'INPUT__0', datatype: 'FP32', shape: [1, 64], values: new Float32Array(64) });

const texts = await client.infer({ model: 'strings', inputs: [words] });
const numbers = await packed.infer({ model: 'mlp', inputs: [row] });
const asJson = await client.infer({ model: 'mlp', inputs: [row] }, { json: true });

const events: unknown[] = [];
for await (const { OUT } of client.generateStream('repeat', { IN: [7, 8, 9], DELAY: 1 })) events.push(OUT);

async function reasonOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'none';
  } catch (error) {
    return error instanceof ClientError ? error.reason : String(error);
  }
}

const readFirst = async (options: { readonly timeoutMs?: number; readonly signal?: AbortSignal }) => {
  for await (const _ of client.generateStream('repeat', { IN: [1], DELAY: 60_000 }, options));
};
const controller = new AbortController();
setTimeout(() => controller.abort(), 50);

console.log(
  JSON.stringify({
    shouted: texts.values('shouted', 'BYTES'),
    lengths: Array.from(texts.values('lengths', 'INT64'), String),
    binary: Array.from(numbers.values('OUTPUT__0', 'FP32')),
    json: Array.from(asJson.values('OUTPUT__0', 'FP32')),
    events,
    reasons: [
      await reasonOf(() => readFirst({ timeoutMs: 50 })),
      await reasonOf(() => readFirst({ signal: controller.signal })),
      await reasonOf(() => client.modelMetadata('nosuch')),
      await reasonOf(() => new HttpClient({ url: 'http://127.0.0.1:1', retry: { attempts: 1 } }).serverMetadata()),
    ],
  }),
);
await client.close();
