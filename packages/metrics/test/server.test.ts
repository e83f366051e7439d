import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it, test } from 'vitest';
import { createMetricsServer, type MetricsServerOptions } from '../src/index.ts';
import { engineOf, statisticsOf } from './fixture.ts';

async function open(options: Partial<MetricsServerOptions> = {}) {
  const server = createMetricsServer({ engine: engineOf(statisticsOf()), ...options });
  const port = await server.listen({ host: '127.0.0.1', port: 0 });
  return { server, port, url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => server.close() };
}

it.each(['/metrics', '/metrics/', '/metrics?from=collector'])('GET %s answers the metrics', async (path) => {
  await using endpoint = await open();
  const response = await fetch(`${endpoint.url}${path}`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const text = await response.text();
  expect(text).toContain('nv_inference_request_success{model="m",version="1"} 0\n');
  expect(text).toContain('nereid_external_memory_bytes ');
});

it.each(['/', '/nosuch', '/metrics/x', '/metricsx', '//metrics'])('GET %s answers 200 without a body', async (path) => {
  await using endpoint = await open();
  const response = await fetch(`${endpoint.url}${path}`);
  expect(response.status).toBe(200);
  expect(await response.text()).toBe('');
});

it.each(['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'])('%s is answered 405, on every path', async (method) => {
  await using endpoint = await open();
  for (const path of ['/metrics', '/nosuch']) {
    const response = await fetch(`${endpoint.url}${path}`, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET');
  }
});

test('each scrape shows what is counted then', async () => {
  let count = 0;
  const engine = { eachStatistics: () => [statisticsOf({ success: { count: ++count, ns: 0 } })] };
  await using endpoint = await open({ engine });
  for (const expected of [1, 2, 3]) {
    const text = await (await fetch(`${endpoint.url}/metrics`)).text();
    expect(text).toContain(`nv_inference_request_success{model="m",version="1"} ${expected}\n`);
  }
});

test('the memory of the machine and of the process is told', async () => {
  await using endpoint = await open();
  const text = await (await fetch(`${endpoint.url}/metrics`)).text();
  const numberOf = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  expect(numberOf('nv_cpu_memory_used_bytes')).toBeGreaterThan(0);
  expect(numberOf('nv_cpu_memory_used_bytes')).toBeLessThan(numberOf('nv_cpu_memory_total_bytes'));
  expect(numberOf('nereid_external_memory_bytes')).toBeGreaterThan(0);
});

test('a defect is answered 500 and logged, and the next scrape goes on', async () => {
  const lines: string[] = [];
  const take = (_: object, message: string) => lines.push(message);
  let isBroken = true;
  const engine = {
    eachStatistics: () => {
      if (isBroken) throw new Error('secret');
      return [];
    },
  };
  await using endpoint = await open({ engine, logger: { debug: take, info: take, warn: take, error: take } });
  const response = await fetch(`${endpoint.url}/metrics`);
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain('secret');
  expect(lines).toEqual(['metrics met a defect: Error: secret']);
  isBroken = false;
  expect((await fetch(`${endpoint.url}/metrics`)).status).toBe(200);
});

test('a scrape of many models arrives whole', async () => {
  const models = Array.from({ length: 1000 }, (_, i) => statisticsOf({ name: `model_${i}` }));
  await using endpoint = await open({ engine: engineOf(...models) });
  const text = await (await fetch(`${endpoint.url}/metrics`)).text();
  for (const { name } of models) expect(text).toContain(`nv_model_load_duration_secs{model="${name}",version="1"} 0\n`);
  expect(text).toMatch(/\nnereid_external_memory_bytes \d+\n$/);
});

test('a collector that goes away in the middle is no defect', async () => {
  const lines: string[] = [];
  const take = (_: object, message: string) => lines.push(message);
  const models = Array.from({ length: 5000 }, (_, i) => statisticsOf({ name: `model_${i}` }));
  const logger = { debug: take, info: take, warn: take, error: take };
  const endpoint = await open({ engine: engineOf(...models), logger });
  const socket = connect(endpoint.port, '127.0.0.1');
  socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  socket.destroy();
  await endpoint.server.close();
  expect(lines).toEqual([]);
});

test('closing ends idle connections, and later ones are refused', async () => {
  const endpoint = await open();
  const socket = connect(endpoint.port, '127.0.0.1');
  socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  socket.resume();
  const ended = once(socket, 'close');
  await endpoint.server.close();
  await ended;
  await expect(fetch(`${endpoint.url}/metrics`)).rejects.toThrow();
});

test('a port that is taken is told by its code', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const server = createMetricsServer({ engine: engineOf() });
  await expect(server.listen({ host: '127.0.0.1', port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  taken.close();
});
