/** A server behind a proxy that ends TLS, checks client certificates and serves it below a path, with the real Python client. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { testModel } from '@nereid/testing';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CheckLine, clientScript, runChecks } from '../src/client-checks.ts';
import { type NereidProcess, startNereid } from '../src/nereid-process.ts';

const SCRIPT = 'tritonclient_proxy_checks.py';
const BASE = '/serving';
const source = readFileSync(clientScript(SCRIPT), 'utf8');
const names = [...source.matchAll(/^def (\w+)\(url, files\):$/gm)].map(([, name]) => String(name).replaceAll('_', ' '));

const folder = mkdtempSync(join(tmpdir(), 'nereid-proxy-'));
let server: NereidProcess;
let proxy: Server;
let lines: ReadonlyMap<string, CheckLine>;

async function certificate() {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'proxy' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ],
  });
  return { cert, key };
}

/** Passes on what lies below `BASE`, on connections that it keeps. */
function openProxy({ cert, key }: { readonly cert: string; readonly key: string }, target: string): Server {
  const agent = new Agent({ keepAlive: true });
  const open = createServer({ cert, key, ca: cert, requestCert: true, rejectUnauthorized: true }, (came, answer) => {
    if (!came.url?.startsWith(`${BASE}/`)) {
      answer.writeHead(404).end();
      return;
    }
    const { method = 'GET', headers } = came;
    const sent = request(`${target}${came.url.slice(BASE.length)}`, { agent, method, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      pipeline(reply, answer).catch(() => answer.destroy());
    });
    pipeline(came, sent).catch(() => answer.destroy());
  });
  return open.on('close', () => agent.destroy());
}

beforeAll(async () => {
  server = await startNereid([testModel('golden_repository')]);
  const pair = await certificate();
  const [cert, key] = Object.entries(pair).map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  });
  proxy = openProxy(pair, server.url);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  lines = await runChecks(SCRIPT, url, BASE, String(cert), String(cert), String(key));
}, 60_000);
afterAll(async () => {
  proxy?.closeAllConnections();
  proxy?.close();
  await server?.stop();
  rmSync(folder, { recursive: true });
});

describe('the Python client through a proxy', () => {
  test.each(names)('%s', (name) => {
    const line = lines.get(name);
    expect(line, 'the check did not run; it must stand in CHECKS').toBeDefined();
    expect(line?.error ?? '').toBe('');
  });
});

test('a base path is for the proxy: the server itself has nothing there', async () => {
  const answer = await fetch(`${server.url}${BASE}/v2/health/live`);
  expect(answer.status).toBe(404);
});
