/** Traces of requests that come by every way that there is, and end in every way. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { traced } from './fixture.ts';
import { requestOf } from './grpc-request.ts';

type Server = Awaited<ReturnType<typeof traced>>;

interface Element {
  readonly id: number;
  readonly model_name?: string;
  readonly request_id?: string;
  readonly timestamps?: readonly { readonly name: string; readonly ns: number }[];
  readonly activity?: string;
  readonly tensor?: { readonly data: string };
}

const FILE = 't.json';
const all =
  (level = 'TIMESTAMPS', rate = 1) =>
  (at: string) => [`level=${level}`, `rate=${rate}`, `triton,file=${join(at, FILE)}`];

/** Ends the server; the elements of its file. */
async function elementsOf(server: Server): Promise<readonly Element[]> {
  await server.stop();
  const elements: readonly Element[] = JSON.parse(readFileSync(join(server.directory, FILE), 'utf8'));
  server.remove();
  return elements;
}

/** Model and request of each trace, with the names of its marks in their order. */
async function tracesOf(server: Server): Promise<readonly (readonly [title: string, marks: readonly string[]])[]> {
  const elements = await elementsOf(server);
  return elements
    .filter(({ model_name: name }) => name !== undefined)
    .map(({ id, model_name: name, request_id: request }) => [
      `${name} ${request ?? '-'}`,
      elements.flatMap((element) => (element.id === id ? (element.timestamps ?? []).map((mark) => mark.name) : [])),
    ]);
}

const HTTP = ['HTTP_RECV_START', 'HTTP_RECV_END'];
const GRPC = ['GRPC_WAITREAD_START', 'GRPC_WAITREAD_END'];
const QUEUED = ['REQUEST_START', 'QUEUE_START'];
const COMPUTED = ['COMPUTE_START', 'COMPUTE_INPUT_END', 'COMPUTE_OUTPUT_START', 'COMPUTE_END'];
const BROKEN = ['COMPUTE_START', 'COMPUTE_END'];
const ANSWERED = ['INFER_RESPONSE_COMPLETE', 'REQUEST_END'];
const HTTP_SENT = ['HTTP_SEND_START', 'HTTP_SEND_END'];
const GRPC_SENT = ['GRPC_SEND_START', 'GRPC_SEND_END'];
const CORE = [...QUEUED, ...COMPUTED, ...ANSWERED];

const INFER = { id: 'r', inputs: [{ name: 'x', datatype: 'FP32', shape: [1, 2], data: [1, 2.5] }] };
const sequence = (flags: object) => ({ ...INFER, parameters: { sequence_id: 7, ...flags } });
const turn = (flags: readonly string[]) => ({
  ...requestOf('sequences', flags.join()),
  parameters: Object.fromEntries([
    ['sequence_id', { int64_param: 7 }],
    ...flags.map((flag) => [flag, { bool_param: true }]),
  ]),
});

it.each<{ way: string; send: (server: Server) => Promise<unknown>; traces: readonly [string, readonly string[]][] }>([
  {
    way: 'infer over HTTP',
    send: (server) => server.post('m/infer', INFER),
    traces: [['m r', [...HTTP, ...CORE, ...HTTP_SENT]]],
  },
  {
    way: 'infer over gRPC',
    send: (server) => server.inferOverGrpc('r'),
    traces: [['m r', [...GRPC, ...CORE, ...GRPC_SENT]]],
  },
  {
    way: 'a stream',
    send: (server) => server.streamOverGrpc([requestOf('m', 'r')]),
    traces: [['m r', [...GRPC, ...CORE, ...GRPC_SENT]]],
  },
  {
    way: 'generate',
    send: (server) => server.post('m/generate', { x: [1, 2], id: 'r' }),
    traces: [['m r', [...HTTP, ...CORE, ...HTTP_SENT]]],
  },
  {
    way: 'generate_stream',
    send: (server) => server.post('m/generate_stream', { x: [1, 2], id: 'r' }),
    traces: [['m r', [...HTTP, ...CORE, ...HTTP_SENT]]],
  },
  {
    way: 'a sequence over HTTP',
    send: async (server) => {
      await server.post('sequences/infer', sequence({ sequence_start: true }));
      await server.post('sequences/infer', sequence({ sequence_end: true }));
    },
    traces: [
      ['sequences r', [...HTTP, ...CORE, ...HTTP_SENT]],
      ['sequences r', [...HTTP, ...CORE, ...HTTP_SENT]],
    ],
  },
  {
    way: 'a sequence on a stream',
    send: (server) => server.streamOverGrpc([turn(['sequence_start']), turn([]), turn(['sequence_end'])]),
    traces: [
      ['sequences sequence_start', [...GRPC, ...CORE, ...GRPC_SENT]],
      ['sequences -', [...GRPC, ...CORE, ...GRPC_SENT]],
      ['sequences sequence_end', [...GRPC, ...CORE, ...GRPC_SENT]],
    ],
  },
])('$way: one trace of each request, its marks in their order', async ({ send, traces }) => {
  const server = await traced(all());
  await send(server);
  expect(await tracesOf(server)).toEqual(traces);
});

it.each([
  ['a stream', GRPC, GRPC_SENT, (server: Server) => server.streamOverGrpc([requestOf('decoupled', 'r', [1, 2])])],
  [
    'generate_stream',
    HTTP,
    HTTP_SENT,
    (server: Server) => server.post('decoupled/generate_stream', { x: [1, 2], id: 'r' }),
  ],
])(
  'a decoupled model on %s: one trace with each of its responses',
  async (_, received, [sendStart = '', sendEnd = ''], send) => {
    const server = await traced(all());
    await send(server);
    const [[title, marks] = ['', []], ...others] = await tracesOf(server);
    expect([title, others]).toEqual(['decoupled r', []]);
    expect(marks.slice(0, 4)).toEqual([...received, ...QUEUED]);
    // Two with outputs, and the end.
    expect(marks.filter((name) => name === 'INFER_RESPONSE_COMPLETE')).toHaveLength(3);
    expect(marks.filter((name) => name === sendStart)).toHaveLength(1);
    expect(marks.indexOf(sendStart)).toBeGreaterThan(marks.indexOf('INFER_RESPONSE_COMPLETE'));
    expect(marks.at(-1)).toBe(sendEnd);
  },
);

it('of very many responses the first are told, and the last', async () => {
  const server = await traced(all('TENSORS'), { maxResponses: 3 });
  await server.streamOverGrpc([requestOf('decoupled', 'r', [1, 10])]);
  const elements = await elementsOf(server);
  const names = elements.flatMap(({ timestamps = [] }) => timestamps.map(({ name }) => name));
  expect(names.filter((name) => name === 'INFER_RESPONSE_COMPLETE')).toHaveLength(4);
  expect(elements.filter(({ activity }) => activity === 'TENSOR_BACKEND_OUTPUT')).toHaveLength(3);
});

it('requests that fail are traced as far as they came', async () => {
  const server = await traced(all());
  await server.post('broken/infer', INFER);
  await server.inferOverGrpc('r', {}, 'broken');
  await server.streamOverGrpc([requestOf('broken', 'r')]);
  await server.post('m/infer', { ...INFER, inputs: [{ ...INFER.inputs[0], shape: [1, 3], data: [1, 2, 3] }] });
  await server.post('sequences/infer', sequence({}));
  const refused = ['REQUEST_START', ...ANSWERED];
  expect(await tracesOf(server)).toEqual([
    ['broken r', [...HTTP, ...QUEUED, ...BROKEN, ...ANSWERED, ...HTTP_SENT]],
    ['broken r', [...GRPC, ...QUEUED, ...BROKEN, ...ANSWERED, ...GRPC_SENT]],
    ['broken r', [...GRPC, ...QUEUED, ...BROKEN, ...ANSWERED, ...GRPC_SENT]],
    ['m r', [...HTTP, ...refused, ...HTTP_SENT]],
    // Without START nothing of it is queued.
    ['sequences r', [...HTTP, ...QUEUED, ...ANSWERED, ...HTTP_SENT]],
  ]);
});

it('requests that time out, find the queue full, or are taken back never computed', async () => {
  const server = await traced(all());
  const send = (model: string, id: string, signal?: AbortSignal) =>
    server.post(`${model}/infer`, { ...INFER, id }, signal);
  const comesTo = (model: string, load: readonly number[]) =>
    expect.poll(() => server.load(model), { interval: 1 }).toEqual(load);
  const running = ['hasty', 'slow'].map((model) => send(model, 'runs'));
  for (const model of ['hasty', 'slow']) await comesTo(model, [1, 0]);
  const leaving = new AbortController();
  const leaves = send('slow', 'leaves', leaving.signal).catch(() => 'left');
  await comesTo('slow', [1, 1]);
  const full = await send('slow', 'too many');
  const late = await send('hasty', 'times out');
  leaving.abort();
  const ran = await Promise.all(running);
  expect([await leaves, full.status, late.status, ...ran.map(({ status }) => status)]).toEqual([
    'left',
    503,
    503,
    200,
    200,
  ]);
  const traces = new Map(await tracesOf(server));
  const unrun = [...HTTP, ...QUEUED, ...ANSWERED];
  expect(Object.fromEntries(traces)).toEqual({
    'hasty runs': [...HTTP, ...CORE, ...HTTP_SENT],
    'hasty times out': [...unrun, ...HTTP_SENT],
    'slow runs': [...HTTP, ...CORE, ...HTTP_SENT],
    'slow too many': [...unrun, ...HTTP_SENT],
    // Nothing is sent to a client that is gone.
    'slow leaves': unrun,
  });
});

it('samples by rate and count exactly, whatever comes at once over both protocols', async () => {
  const server = await traced(all('TIMESTAMPS', 7));
  const load = async (count: number) => {
    const calls = Array.from({ length: count }, (_, i) =>
      i % 2 === 0 ? server.post('m/infer', INFER) : server.inferOverGrpc('r'),
    );
    await Promise.all(calls);
  };
  await load(70);
  // Counts anew, and holds at the count.
  await server.settings('', { trace_rate: '3', trace_count: '4' });
  await load(40);
  expect((await server.settings('')).json).toMatchObject({ trace_count: '0' });
  const titles = (await tracesOf(server)).map(([title]) => title);
  expect(titles).toEqual(Array(14).fill('m r'));
});

it('tensors of every request, and of each response', async () => {
  const server = await traced(all('TENSORS'));
  await server.inferOverGrpc('r');
  await server.streamOverGrpc([requestOf('decoupled', 'd', [1, 2])]);
  await server.post('broken/infer', INFER);
  const tensors = (await elementsOf(server)).filter(({ tensor }) => tensor !== undefined);
  const shown = tensors.map(({ id, activity, tensor }) => `${id} ${activity} ${tensor?.data}`).toSorted();
  expect(shown).toEqual([
    '1 TENSOR_BACKEND_INPUT 1,2.5',
    '1 TENSOR_BACKEND_OUTPUT 1,2.5',
    '1 TENSOR_QUEUE_INPUT 1,2.5',
    '2 TENSOR_BACKEND_INPUT 1,2',
    '2 TENSOR_BACKEND_OUTPUT 1,2',
    '2 TENSOR_BACKEND_OUTPUT 1,2',
    '2 TENSOR_QUEUE_INPUT 1,2',
    '3 TENSOR_BACKEND_INPUT 1,2.5',
    '3 TENSOR_QUEUE_INPUT 1,2.5',
  ]);
});
