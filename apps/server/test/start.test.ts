import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testModel } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLog, optionsFromFlags, parseFlags, StartError, startServer } from '../src/index.ts';
import { portWarnings } from '../src/port-sharing.ts';

let folder: string;
let good: string;
let mixed: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nereid-server-'));
  good = join(folder, 'good');
  cpSync(join(testModel('golden_repository'), 'id_fp32'), join(good, 'id_fp32'), { recursive: true });
  mixed = join(folder, 'mixed');
  cpSync(good, mixed, { recursive: true });
  mkdirSync(join(mixed, 'broken', '1'), { recursive: true });
  writeFileSync(join(mixed, 'broken', 'config.pbtxt'), 'nonsense: 1\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

function start(repository: string, ...argv: string[]) {
  const { options } = optionsFromFlags(
    parseFlags(['--model-repository', repository, '--http-port=0', '--grpc-port=0', ...argv]),
  );
  return startServer(options, openLog({ ...options.log, info: false, warning: false, error: false }));
}

const body = JSON.stringify({ inputs: [{ name: 'x', datatype: 'FP32', shape: [2], data: [1, 2] }] });
const infer = async (url: string | undefined) => {
  const response = await fetch(`${url}/v2/models/id_fp32/infer`, { method: 'POST', body });
  return (await response.json()) as { outputs: { data: number[] }[] };
};

describe('a server', () => {
  test('answers an inference on a free port', async () => {
    await using server = await start(good);
    expect((await infer(server.url)).outputs[0]?.data).toEqual([1, 2]);
  });

  test('serves the good models beside a broken one and says why it is not ready', async () => {
    await using server = await start(mixed);
    expect((await infer(server.url)).outputs[0]?.data).toEqual([1, 2]);
    expect((await fetch(`${server.url}/v2/health/ready`)).status).toBe(400);
    const broken = server.models().find(({ name }) => name === 'broken');
    expect(broken?.reason).toContain('config.pbtxt:1:1');
    expect(broken?.reason).toContain('nonsense');
  });

  test('is ready beside a broken model when readiness is not strict', async () => {
    await using server = await start(mixed, '--strict-readiness=false');
    expect((await fetch(`${server.url}/v2/health/ready`)).status).toBe(200);
  });

  test('closes what is restricted to those without the key', async () => {
    await using server = await start(good, '--http-restricted-api=inference:key=v');
    const status = async (headers: Record<string, string>) =>
      (await fetch(`${server.url}/v2/models/id_fp32/infer`, { method: 'POST', body, headers })).status;
    expect([await status({}), await status({ key: 'v' })]).toEqual([403, 200]);
    expect((await fetch(`${server.url}/v2`)).status).toBe(200);
  });

  test.each([
    [
      '--http-max-tensors=1',
      { ...JSON.parse(body), outputs: [{ name: 'y' }, { name: 'z' }] },
      'more than the limit of 1',
    ],
    [
      '--http-max-json-depth=1',
      { inputs: [{ name: 'x', datatype: 'FP32', shape: [2], data: [[1, 2]] }] },
      'nesting deeper than 4 levels',
    ],
  ])('refuses what is beyond %s', async (flag, request, message) => {
    await using server = await start(good, flag);
    const answer = await fetch(`${server.url}/v2/models/id_fp32/infer`, {
      method: 'POST',
      body: JSON.stringify(request),
    });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(message)]);
  });

  test.each([
    ['--grpc-max-connection-age=50', [0, 'max_age']],
    ['--grpc-http2-max-ping-strikes=1', [11, 'too_many_pings']],
  ])('with %s says farewell to a gRPC client as %j', async (flag, farewell) => {
    await using server = await start(good, flag);
    const session = connect(`http://${server.grpcPlace}`).on('error', () => {});
    await once(session, 'connect');
    const told = once(session, 'goaway');
    for (let i = 0; i < 3; i++) session.ping(() => {});
    const [code, , data] = await told;
    expect([code, String(data)]).toEqual(farewell);
    session.destroy();
  });

  test('shares its ports where Node.js can do that', async () => {
    const flags = ['--reuse-http-port=true', '--reuse-grpc-port=true'];
    await using first = await start(good, ...flags);
    const port = (place: string | undefined) => place?.split(':').at(-1);
    const second = start(good, ...flags, `--http-port=${port(first.url)}`, `--grpc-port=${port(first.grpcPlace)}`);
    const { values } = parseFlags(flags);
    if (portWarnings(values).length > 0) {
      await expect(second).rejects.toThrow('is already in use');
      return;
    }
    await using server = await second;
    expect([server.url, server.grpcPlace]).toEqual([first.url, first.grpcPlace]);
  });

  test('names itself as asked', async () => {
    await using server = await start(good, '--id=triton');
    expect(await (await fetch(`${server.url}/v2`)).json()).toMatchObject({ name: 'triton' });
  });

  test('runs without HTTP', async () => {
    await using server = await start(good, '--allow-http=false');
    expect(server.url).toBeUndefined();
    expect(server.engine.isReady()).toBe(true);
  });

  test('serves metrics of its models on a port of their own', async () => {
    await using server = await start(good);
    await infer(server.url);
    const response = await fetch(`http://${server.metricsPlace}/metrics`);
    expect(await response.text()).toContain('nv_inference_request_success{model="id_fp32",version="1"} 1\n');
  });

  test('runs without metrics', async () => {
    await using server = await start(good, '--allow-metrics=false');
    expect(server.metricsPlace).toBeUndefined();
  });

  test('refuses connections once it has stopped', async () => {
    const server = await start(good);
    expect(await server.stop()).toEqual({ isComplete: true, left: [] });
    await expect(fetch(`${server.url}/v2/health/live`)).rejects.toThrow();
    await expect(fetch(`http://${server.metricsPlace}/metrics`)).rejects.toThrow();
  });
});

describe('a server does not start', () => {
  test('when a model is broken and --exit-on-error asks for it', async () => {
    await expect(start(mixed, '--exit-on-error=true')).rejects.toThrow(StartError);
  });

  test('without its repository', async () => {
    await expect(start(join(folder, 'nosuch'))).rejects.toThrow(/nosuch/);
  });

  test.each(['http', 'grpc', 'metrics'])('on a port for %s that is taken', async (protocol) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const started = start(good, `--${protocol}-port=${port}`);
    await expect(started).rejects.toThrow(StartError);
    await expect(started).rejects.toThrow(`127.0.0.1:${port} is already in use`);
    await expect(started).rejects.toThrow(`choose another --${protocol}-port`);
    taken.close();
  });

  test('on an address that is not of this machine', async () => {
    await expect(start(good, '--http-address=192.0.2.1')).rejects.toThrow('is no address of this machine');
  });

  test('without configuration files when they are asked for', async () => {
    const bare = join(folder, 'bare');
    mkdirSync(join(bare, 'm', '1'), { recursive: true });
    cpSync(join(good, 'id_fp32', '1'), join(bare, 'm', '1'), { recursive: true });
    await using server = await start(bare, '--disable-auto-complete-config');
    expect(server.models()[0]?.reason).toContain('has no config.pbtxt');
  });
});
