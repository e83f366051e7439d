/** The HTTP part must run where there is nothing of Node: it is bundled as for a browser, and runs where there is but what browsers have. */
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { beforeAll, expect, it } from 'vitest';
import { serve } from './fixture.ts';

let script: string;

beforeAll(async () => {
  // A module of Node cannot be resolved for a browser, which fails the build.
  const { metafile, outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../src/http/index.ts', import.meta.url))],
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
    globalName: 'nereid',
    bundle: true,
    conditions: ['@nereid/source'],
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  expect(Object.values(metafile.outputs).flatMap((output) => output.imports)).toEqual([]);
  script = outputFiles[0]?.text ?? '';
});

/** What is not of the language itself. */
const BROWSER = {
  AbortController,
  Blob,
  CompressionStream,
  Response,
  TextDecoder,
  TextEncoder,
  URL,
  btoa,
  clearTimeout,
  crypto,
  fetch,
  performance,
  setTimeout,
};

/** Runs the body of an async function that knows `HttpClient`, `tensor` and `url`; what it returns, through JSON. */
async function inBrowser(url: string, code: string): Promise<unknown> {
  const context = createContext({ ...BROWSER, url });
  runInContext(script, context);
  const body = `(async () => { const { HttpClient, tensor } = nereid; ${code} })().then((value) => JSON.stringify(value))`;
  return JSON.parse(await runInContext(body, context));
}

it('infers, reads documents, streams and fails with text', async () => {
  await using served = await serve();
  const seen = await inBrowser(
    served.url,
    `
    const client = new HttpClient({ url });
    const x = tensor({ name: 'x', datatype: 'BYTES', values: ['é😀', new Uint8Array([65])] });
    const binary = await client.infer({ model: 'id_bytes', inputs: [x] });
    const json = await client.infer({ model: 'id_bytes', inputs: [x] }, { json: true });
    const half = await client.infer({ model: 'id_fp16', inputs: [tensor({ name: 'x', datatype: 'FP16', values: [0.5] })] });
    const streamed = [];
    for await (const { y } of client.generateStream('repeat', { x: [1, 2] })) streamed.push(y);
    const failure = await client.modelMetadata('nosuch').catch((error) => [error.code, error.status]);
    const large = new Float32Array(100_000).fill(2);
    const packed = new HttpClient({ url, requestCompression: 'gzip' });
    const answer = await packed.infer({ model: 'id_fp32', inputs: [tensor({ name: 'x', datatype: 'FP32', values: large })] });
    return {
      binary: binary.values('y', 'BYTES'),
      json: json.values('y', 'BYTES'),
      half: [...half.values('y', 'FP16')],
      streamed,
      failure,
      large: answer.values('y', 'FP32').every((value) => value === 2),
      name: (await client.serverMetadata()).name,
    };
    `,
  );
  expect(seen).toEqual({
    binary: ['é😀', 'A'],
    json: ['é😀', 'A'],
    half: [0.5],
    streamed: [1, 2],
    failure: ['NOT_FOUND', 404],
    large: true,
    name: 'nereid',
  });
});
