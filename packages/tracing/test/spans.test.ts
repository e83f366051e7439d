/** A real OTLP receiver over HTTP and gRPC; messages are decoded with OpenTelemetry's own schema. */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import grpc from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { traced } from './fixture.ts';

interface Span {
  readonly name: string;
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly parentSpanId: Uint8Array;
  readonly traceState: string;
  readonly status: { readonly code: number; readonly message: string };
  readonly events: readonly { readonly name: string }[];
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}
type Spans = Span[];

interface ExportRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

const schema = createRequire(import.meta.url)('otlp-schema/build/src/generated/root.js');

function spansOf(body: Uint8Array): Spans {
  const type = schema.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
  const { resourceSpans }: ExportRequest = type.decode(body);
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

const hex = (bytes: Uint8Array | string | null | undefined) => Buffer.from(bytes ?? '').toString('hex');

async function httpReceiver() {
  const spans: Spans = [];
  const server = createServer(async (request, response) => {
    spans.push(...spansOf(Buffer.concat(await request.toArray())));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  return { spans, url, close: () => server.close() };
}

async function grpcReceiver() {
  const spans: Spans = [];
  const server = new grpc.Server();
  const pass = (bytes: Buffer) => bytes;
  const method = { requestStream: false, responseStream: false, requestSerialize: pass, requestDeserialize: pass };
  const path = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
  const definition = { export: { ...method, path, responseSerialize: pass, responseDeserialize: pass } };
  const answer: grpc.handleUnaryCall<Buffer, Buffer> = (call, done) => {
    spans.push(...spansOf(call.request));
    done(null, Buffer.alloc(0));
  };
  server.addService(definition, { export: answer });
  const credentials = grpc.ServerCredentials.createInsecure();
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound))),
  );
  return { spans, url: `http://127.0.0.1:${port}`, close: () => server.forceShutdown() };
}

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

it.each([
  ['http', httpReceiver],
  ['grpc', grpcReceiver],
] as const)(
  'three spans of a request reach a receiver over %s, under the span of the client',
  async (protocol, open) => {
    const receiver = await open();
    const to = [`opentelemetry,url=${receiver.url}`, `opentelemetry,protocol=${protocol}`];
    const server = await traced(() => ['mode=opentelemetry', 'level=TIMESTAMPS', 'rate=0', ...to]);
    await server.infer('untraced');
    await server.infer('of a context that is none', { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` });
    await server.infer('r1', { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`, tracestate: 'a=b' });
    await server.stop();
    receiver.close();
    const byName = new Map(receiver.spans.map((span) => [span.name, span]));
    expect(receiver.spans).toHaveLength(3);
    expect(receiver.spans.map(({ traceId }) => hex(traceId))).toEqual([TRACE_ID, TRACE_ID, TRACE_ID]);
    const [root, model, compute] = ['InferRequest', 'm', 'compute'].map((name) => byName.get(name));
    expect(hex(root?.parentSpanId)).toBe('b7ad6b7169203331');
    expect(server.traceparents).toEqual([undefined, undefined, `00-${TRACE_ID}-${hex(root?.spanId)}-01`]);
    expect(receiver.spans.map(({ traceState }) => traceState)).toEqual(['a=b', 'a=b', 'a=b']);
    expect(hex(model?.parentSpanId)).toBe(hex(root?.spanId));
    expect(hex(compute?.parentSpanId)).toBe(hex(model?.spanId));
    expect(model?.events?.map(({ name }) => name)).toEqual(['REQUEST_START', 'QUEUE_START', 'REQUEST_END']);
    const attributes = Object.fromEntries((model?.attributes ?? []).map(({ key, value }) => [key, value]));
    expect(Object.keys(attributes)).toEqual([
      ...[
        'triton.model_name',
        'triton.model_version',
        'triton.trace_id',
        'triton.trace_parent_id',
        'triton.request_id',
      ],
    ]);
    expect(attributes['triton.request_id']?.stringValue).toBe('r1');
    server.remove();
  },
);

it('requests over gRPC have the same spans, under the span of their metadata', async () => {
  const receiver = await httpReceiver();
  const server = await traced(() => [
    'mode=opentelemetry',
    'level=TIMESTAMPS',
    'rate=0',
    `opentelemetry,url=${receiver.url}`,
  ]);
  const context = { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` };
  expect([await server.inferOverGrpc('untraced'), await server.inferOverGrpc('r2', context)]).toEqual(['OK', 'OK']);
  await server.stop();
  receiver.close();
  expect(receiver.spans.map(({ name, traceId }) => [name, hex(traceId)]).sort()).toEqual([
    ['InferRequest', TRACE_ID],
    ['compute', TRACE_ID],
    ['m', TRACE_ID],
  ]);
  const [root, model, compute] = ['InferRequest', 'm', 'compute'].map((name) =>
    receiver.spans.find((span) => span.name === name),
  );
  expect([root, model, compute].map((span) => hex(span?.parentSpanId))).toEqual([
    'b7ad6b7169203331',
    hex(root?.spanId),
    hex(model?.spanId),
  ]);
  const id = model?.attributes.find(({ key }) => key === 'triton.request_id');
  expect(id?.value.stringValue).toBe('r2');
  server.remove();
});

it('a request that fails says so in its spans, and one that never ran has no compute', async () => {
  const receiver = await httpReceiver();
  const server = await traced(() => [
    'mode=opentelemetry',
    'level=TIMESTAMPS',
    'rate=1',
    `opentelemetry,url=${receiver.url}`,
  ]);
  const tensor = { name: 'x', datatype: 'FP32', shape: [1, 2], data: [1, 2] };
  await server.post('broken/infer', { inputs: [tensor] });
  await server.post('sequences/infer', { inputs: [tensor], parameters: { sequence_id: 1 } });
  await server.stop();
  receiver.close();
  const shown = receiver.spans.map(({ name, status, events }) => [
    ...[name, status.code, status.message.replace(/.*(keyboard|START).*/s, '$1')],
    events.map((event) => event.name).join(),
  ]);
  const roots = receiver.spans.filter(({ name }) => name === 'InferRequest');
  const parents = roots.map(({ traceId, spanId }) => `00-${hex(traceId)}-${hex(spanId)}-01`);
  expect(new Set(parents)).toEqual(new Set(server.traceparents));
  expect(new Set(parents.map((parent) => parent.slice(3, 35))).size).toBe(2);
  const front = 'HTTP_RECV_START,HTTP_RECV_END,INFER_RESPONSE_COMPLETE,HTTP_SEND_START,HTTP_SEND_END';
  const request = 'REQUEST_START,QUEUE_START,REQUEST_END';
  expect(shown.toSorted()).toEqual(
    [
      ['InferRequest', 2, 'keyboard', front],
      ['broken', 2, 'keyboard', request],
      ['compute', 2, 'keyboard', 'COMPUTE_START,COMPUTE_END'],
      ['InferRequest', 2, 'START', front],
      ['sequences', 2, 'START', request],
    ].toSorted(),
  );
  server.remove();
});

it('a receiver that is down costs no request its answer', async () => {
  const receiver = await httpReceiver();
  receiver.close();
  const server = await traced(() => [
    'mode=opentelemetry',
    'level=TIMESTAMPS',
    'rate=1',
    `opentelemetry,url=${receiver.url}`,
  ]);
  expect(await server.infer('a')).toBe(200);
  expect((await server.settings('')).json).toMatchObject({ trace_mode: 'opentelemetry', url: receiver.url });
  await server.stop();
  server.remove();
}, 20_000);
