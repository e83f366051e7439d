/** Where HTTP is served: over TLS, and on a socket in the file system. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as plainRequest, type RequestOptions } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testModel } from '@nereid/testing';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLog, optionsFromFlags, parseFlags, StartError, startServer } from '../src/index.ts';

let folder: string;
let pem: { readonly cert: string; readonly private: string };
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nereid-places-'));
  cpSync(join(testModel('golden_repository'), 'id_fp32'), join(folder, 'models', 'id_fp32'), { recursive: true });
  const altNames = [{ type: 7, ip: '127.0.0.1' }] as const;
  pem = await generate([{ name: 'commonName', value: 'server' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [...altNames] },
    ],
  });
  writeFileSync(join(folder, 'cert.pem'), pem.cert);
  writeFileSync(join(folder, 'key.pem'), pem.private);
});
afterAll(() => rmSync(folder, { recursive: true }));

function start(...argv: string[]) {
  const all = ['--model-repository', join(folder, 'models'), '--allow-grpc=false', '--allow-metrics=false', ...argv];
  const { options } = optionsFromFlags(parseFlags(all));
  return startServer(options, openLog({ ...options.log, info: false, warning: false, error: false }));
}

const BODY = JSON.stringify({ inputs: [{ name: 'x', datatype: 'FP32', shape: [2], data: [1, 2] }] });

async function infer(
  options: RequestOptions & { readonly ca?: string; readonly cert?: string; readonly key?: string },
) {
  const send = options.ca === undefined ? plainRequest : tlsRequest;
  const call = send({ method: 'POST', path: '/v2/models/id_fp32/infer', agent: false, ...options });
  call.end(BODY);
  const [answer] = await once(call, 'response');
  let text = '';
  for await (const piece of answer.setEncoding('utf8')) text += piece;
  return [answer.statusCode, JSON.parse(text).outputs[0].data];
}

describe('HTTP over TLS', () => {
  const tls = () => [
    '--http-port=0',
    `--http-server-cert=${join(folder, 'cert.pem')}`,
    `--http-server-key=${join(folder, 'key.pem')}`,
  ];

  test('answers an inference, and tells an https address', async () => {
    await using server = await start(...tls(), '--http-use-ssl=true');
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const { port } = new URL(server.url ?? '');
    expect(await infer({ host: '127.0.0.1', port, ca: pem.cert })).toEqual([200, [1, 2]]);
  });

  test('may demand certificates', async () => {
    await using server = await start(
      ...tls(),
      '--http-use-ssl-mutual=true',
      `--http-root-cert=${join(folder, 'cert.pem')}`,
    );
    const place = { host: '127.0.0.1', port: new URL(server.url ?? '').port, ca: pem.cert };
    await expect(infer(place)).rejects.toThrow();
    expect(await infer({ ...place, cert: pem.cert, key: pem.private })).toEqual([200, [1, 2]]);
  });

  test.each<[string, string, string]>([
    ['is not there', 'nosuch.pem', '--http-server-key cannot be read'],
    ['is none', 'models/id_fp32/config.pbtxt', 'HTTP cannot be served with these certificates'],
  ])('does not start with a key that %s', async (_, file, message) => {
    const started = start(...tls(), '--http-use-ssl=true', `--http-server-key=${join(folder, file)}`);
    await expect(started).rejects.toThrow(StartError);
    await expect(start(...tls(), '--http-use-ssl=true', `--http-server-key=${join(folder, file)}`)).rejects.toThrow(
      message,
    );
  });
});

describe('HTTP on a socket in the file system', () => {
  const path = () => join(folder, 'http.sock');

  test('answers an inference, and is gone with the server', async () => {
    await using server = await start(`--http-address=unix:${path()}`);
    expect(server.url).toBe(`unix:${path()}`);
    expect(await infer({ socketPath: path() })).toEqual([200, [1, 2]]);
    await server.stop();
    expect(existsSync(path())).toBe(false);
  });

  test('takes the place of one that nobody listens on', async () => {
    // A process that is killed leaves the socket behind.
    const code = `require('node:net').createServer().listen(${JSON.stringify(path())}, () => process.kill(process.pid, 'SIGKILL'))`;
    await once(spawn(process.execPath, ['-e', code]), 'close');
    expect(existsSync(path())).toBe(true);
    await using server = await start(`--http-address=unix:${path()}`);
    expect(await infer({ socketPath: path() })).toEqual([200, [1, 2]]);
    expect(server.models()).toHaveLength(1);
  });

  test('leaves alone what is in use, and what is no socket', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, 'x');
    const other = createServer().listen(path());
    await once(other, 'listening');
    for (const taken of [path(), file]) {
      await expect(start(`--http-address=unix:${taken}`)).rejects.toThrow(`cannot listen on unix:${taken}`);
      expect(existsSync(taken)).toBe(true);
    }
    other.close();
  });
});
