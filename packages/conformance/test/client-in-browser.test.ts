/** The client's HTTP part in a real browser, on a page of another origin than the server's, which must allow it. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type * as ClientModule from '@nereid/client/http';
import { build } from 'esbuild';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Chromium, startChromium } from '../src/chromium.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const EXAMPLES = fileURLToPath(new URL('../../../examples/model_repository', import.meta.url));
const DECOUPLED = fileURLToPath(new URL('../repositories/decoupled', import.meta.url));

/** What the bundle leaves on the page. */
declare const nereid: typeof ClientModule;

let site: Server;
let allowed: NereidProcess;
let closed: NereidProcess;
let chromium: Chromium;
let page: Page;

/** A page with nothing but the client on it. */
async function serveClient(): Promise<Server> {
  const { outputFiles } = await build({
    stdin: {
      contents: "export * from '@nereid/client/http';",
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
    globalName: 'nereid',
    bundle: true,
    conditions: ['@nereid/source'],
    write: false,
    logLevel: 'silent',
  });
  const server = createServer((request, response) => {
    const isScript = request.url === '/client.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    response.end(
      isScript ? outputFiles[0]?.text : '<!doctype html><title>client</title><script src="/client.js"></script>',
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

beforeAll(async () => {
  site = await serveClient();
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const quiet = ['--allow-grpc=false', '--allow-metrics=false'];
  [allowed, closed, chromium] = await Promise.all([
    startNereid([EXAMPLES, DECOUPLED], [...quiet, `--http-cors-origin=${origin}`]),
    startNereid([DECOUPLED], quiet),
    startChromium(),
  ]);
  page = await chromium.browser.newPage();
  await page.goto(origin);
}, 180_000);
afterAll(async () => {
  await chromium?.[Symbol.asyncDispose]();
  await Promise.all([allowed?.stop(), closed?.stop()]);
  site?.close();
});

test.each([
  ['as it is', {}],
  ['compressed', { requestCompression: 'gzip', responseCompression: 'deflate' }],
] as const)('infers with binary tensors, %s', async (_, compression) => {
  const seen = await page.evaluate(
    async (url, options) => {
      const client = new nereid.HttpClient({ url, ...options });
      const words = nereid.tensor({ name: 'words', datatype: 'BYTES', shape: [2, 1], values: ['ahoj', '€uro'] });
      const texts = await client.infer({ model: 'strings', inputs: [words] });
      const row = nereid.tensor({ name: 'INPUT__0', datatype: 'FP32', shape: [1, 64], values: new Float32Array(64) });
      const numbers = await client.infer({ model: 'mlp', inputs: [row] });
      return {
        shouted: texts.values('shouted', 'BYTES'),
        lengths: Array.from(texts.values('lengths', 'INT64'), String),
        sum: numbers.values('OUTPUT__0', 'FP32').reduce((sum, value) => sum + value, 0),
      };
    },
    allowed.url,
    compression,
  );
  expect(seen).toEqual({ shouted: ['AHOJ', '€URO'], lengths: ['4', '6'], sum: expect.closeTo(1, 5) });
});

test('streams events one by one, and leaving the loop ends the request', async () => {
  const seen = await page.evaluate(async (url) => {
    const client = new nereid.HttpClient({ url });
    const all: unknown[] = [];
    for await (const { OUT } of client.generateStream('repeat', { IN: [7, 8, 9], DELAY: 1 })) all.push(OUT);
    const first: unknown[] = [];
    for await (const { OUT } of client.generateStream('repeat', { IN: Array(1000).fill(5), DELAY: 1000 })) {
      first.push(OUT);
      break;
    }
    let failed = 0;
    for (let i = 0; i < 100 && failed === 0; i++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      failed = (await client.statistics({ model: 'repeat' }))[0]?.fail.count ?? 0;
    }
    return { all, first, failed };
  }, allowed.url);
  expect(seen).toEqual({ all: [7, 8, 9], first: [5], failed: 1 });
});

test('a deadline and a signal end a call with errors that say so', async () => {
  const seen = await page.evaluate(async (url) => {
    const client = new nereid.HttpClient({ url });
    const slow = { IN: [1, 2], DELAY: 60_000 };
    const reasonOf = async (options: ClientModule.CallOptions) => {
      try {
        for await (const _ of client.generateStream('repeat', slow, options));
        return 'none';
      } catch (error) {
        return (error as ClientModule.ClientError).reason;
      }
    };
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    return [await reasonOf({ timeoutMs: 50 }), await reasonOf({ signal: controller.signal })];
  }, allowed.url);
  expect(seen).toEqual(['timeout', 'cancelled']);
});

test('a server that does not allow the origin is a failed connection, and the error tells of that', async () => {
  const seen = await page.evaluate(async (url) => {
    try {
      await new nereid.HttpClient({ url }).serverMetadata();
      return undefined;
    } catch (error) {
      const { reason, message } = error as ClientModule.ClientError;
      return { reason, message };
    }
  }, closed.url);
  expect(seen?.reason).toBe('connection');
  expect(seen?.message).toContain(closed.url);
  expect(seen?.message).toContain('--http-cors-origin');
});
