import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { traced } from './fixture.ts';

interface Element {
  readonly id: number;
  readonly request_id?: string;
  readonly timestamps?: readonly { readonly name: string; readonly ns: number }[];
  readonly activity?: string;
  readonly tensor?: object;
}

const read = (file: string): Element[] => JSON.parse(readFileSync(file, 'utf8'));

it('holds every mark of every N-th request, in order of time', async () => {
  const server = await traced((at) => ['level=TIMESTAMPS', 'rate=2', `triton,file=${join(at, 't.json')}`]);
  for (const id of ['a', 'b', 'c', 'd', 'e']) expect(await server.infer(id)).toBe(200);
  await server.stop();
  const elements = read(join(server.directory, 't.json'));
  expect(elements.filter((element) => 'model_name' in element)).toEqual([
    { id: 1, model_name: 'm', model_version: 1, request_id: 'b' },
    { id: 2, model_name: 'm', model_version: 1, request_id: 'd' },
  ]);
  const marks = elements.filter(({ id }) => id === 1).flatMap(({ timestamps = [] }) => timestamps);
  expect(marks.map(({ ns }) => ns)).toEqual(marks.map(({ ns }) => ns).toSorted((a, b) => a - b));
  expect(new Set(marks.map(({ name }) => name))).toEqual(
    new Set([
      ...['HTTP_RECV_START', 'HTTP_RECV_END', 'HTTP_SEND_START', 'HTTP_SEND_END', 'INFER_RESPONSE_COMPLETE'],
      ...['REQUEST_START', 'QUEUE_START', 'REQUEST_END'],
      ...['COMPUTE_START', 'COMPUTE_INPUT_END', 'COMPUTE_OUTPUT_START', 'COMPUTE_END'],
    ]),
  );
  server.remove();
});

it('leaves where a request came from as it is', async () => {
  const server = await traced((at) => ['level=TIMESTAMPS', 'rate=1', `triton,file=${join(at, 't.json')}`]);
  await server.infer('a');
  await server.stop();
  expect(server.origins).toEqual([{ protocol: 'http', address: '127.0.0.1' }]);
  server.remove();
});

it('with a log frequency there is a file for every so many traces, and one for the rest', async () => {
  const file = (at: string) => `triton,file=${join(at, 't')}`;
  const server = await traced((at) => ['level=TENSORS', 'rate=1', 'triton,log-frequency=2', file(at)]);
  for (const id of ['a', 'b', 'c']) await server.infer(id);
  await server.stop();
  expect(readdirSync(server.directory).filter((name) => name.startsWith('t.'))).toEqual(['t.0', 't.1']);
  const tensors = read(join(server.directory, 't.1')).filter(({ tensor }) => tensor !== undefined);
  const tensor = { name: 'x', data: '1,2.5', shape: '1,2', dtype: 'FP32' };
  expect(tensors).toEqual(
    expect.arrayContaining(
      ['TENSOR_QUEUE_INPUT', 'TENSOR_BACKEND_INPUT', 'TENSOR_BACKEND_OUTPUT'].map((activity) => ({
        id: 3,
        activity,
        tensor,
      })),
    ),
  );
  server.remove();
});

it('settings are read, changed, given to one model, taken back, and count anew', async () => {
  const server = await traced((at) => [`triton,file=${join(at, 't')}`]);
  const start = { trace_level: ['OFF'], trace_rate: '1000', trace_count: '-1', log_frequency: '0' };
  const fixed = { trace_file: join(server.directory, 't'), trace_mode: 'triton' };
  expect((await server.settings('')).json).toEqual({ ...start, ...fixed });
  const own = { trace_level: ['TIMESTAMPS'], trace_rate: '1', trace_count: '2' };
  expect((await server.settings('/models/m', own)).json).toMatchObject(own);
  expect((await server.settings('')).json).toMatchObject(start);
  await server.infer('a');
  expect((await server.settings('/models/m')).json).toMatchObject({ trace_count: '1' });
  const cleared = { trace_level: null, trace_rate: null, trace_count: null };
  expect((await server.settings('/models/m', cleared)).json).toMatchObject(start);
  for (const [body, status] of [
    [{ trace_file: 'x' }, 501],
    [{ trace_file: null }, 501],
    [{ trace_mode: 'opentelemetry' }, 501],
    [{ trace_rate: 'x' }, 400],
    [{ trace_rate: 1 }, 400],
    [{ trace_count: '-2' }, 400],
    [{ trace_level: ['OFF', 'TENSORS'] }, 400],
    [{ trace_level: ['TIMESTAMPS'], trace_rate: '0' }, 400],
    [{ unknown: 'x', trace_level: ['NO_LEVEL'] }, 200],
  ] as const)
    expect([body, (await server.settings('', body)).status]).toEqual([body, status]);
  expect((await server.settings('/models/nosuch')).status).toBe(400);
  await server.stop();
  server.remove();
});
