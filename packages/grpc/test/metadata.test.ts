import grpc from '@grpc/grpc-js';
import { API_CATEGORIES } from '@nereid/serving';
import { HoldingEngine } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { addSubRequest, HealthService, InferenceService, type Served, serve, unary } from './fixture.ts';

function metadataOf(entries: Record<string, string>): grpc.Metadata {
  const metadata = new grpc.Metadata();
  for (const [key, value] of Object.entries(entries)) metadata.set(key, value);
  return metadata;
}

/** Calls of each category. Those that fail otherwise are not closed. */
const CALLS: readonly (readonly [(typeof API_CATEGORIES)[number], string, object?])[] = [
  ['health', 'ServerLive'],
  ['health', 'ServerReady'],
  ['health', 'ModelReady', { name: 'addsub' }],
  ['metadata', 'ServerMetadata'],
  ['metadata', 'ModelMetadata', { name: 'addsub' }],
  ['inference', 'ModelInfer', addSubRequest()],
  ['inference', 'ModelStreamInfer', addSubRequest()],
  ['model-config', 'ModelConfig', { name: 'addsub' }],
  ['statistics', 'ModelStatistics'],
  ['model-repository', 'RepositoryIndex'],
  ['model-repository', 'RepositoryModelLoad', { model_name: 'addsub' }],
  ['model-repository', 'RepositoryModelUnload', { model_name: 'addsub' }],
  ['shared-memory', 'SystemSharedMemoryStatus'],
  ['shared-memory', 'SystemSharedMemoryRegister', { name: 'r' }],
  ['shared-memory', 'SystemSharedMemoryUnregister'],
  ['shared-memory', 'CudaSharedMemoryStatus'],
  ['shared-memory', 'CudaSharedMemoryRegister', { name: 'r' }],
  ['shared-memory', 'CudaSharedMemoryUnregister'],
  ['trace', 'TraceSetting'],
  ['logging', 'LogSettings'],
];

function call(served: Served, rpc: string, request: object, metadata: grpc.Metadata) {
  if (rpc === 'ModelStreamInfer') return served.stream([request], metadata);
  // biome-ignore lint/suspicious/noExplicitAny: the methods of a client are made from the .proto
  const method = (served.client as any)[rpc].bind(served.client);
  return new Promise<{ code: string; details: string }>((resolve) => {
    method(request, metadata, (error: grpc.ServiceError | null) =>
      resolve({ code: grpc.status[error?.code ?? 0] ?? '', details: error?.details ?? '' }),
    );
  });
}

describe('a restricted protocol', () => {
  it('covers every call of the service', () => {
    const named = CALLS.map(([, rpc]) => rpc).sort();
    expect(named).toEqual(Object.keys(InferenceService.service).sort());
    expect(new Set(CALLS.map(([category]) => category))).toEqual(new Set(API_CATEGORIES));
  });

  it('closes the calls of its categories to those without the key, and no others', async () => {
    const restrictedProtocols = API_CATEGORIES.map((category) => ({
      categories: [category],
      key: `Key-${category}`,
      value: 's3cret',
    }));
    await using served = await serve({ restrictedProtocols });
    const closed = async (metadata: Record<string, string>) => {
      const outcomes = CALLS.map(([, rpc, request = {}]) => call(served, rpc, request, metadataOf(metadata)));
      return (await Promise.all(outcomes)).map(({ code, details }, i) => {
        const refusal = `This protocol is restricted, expecting header 'triton-grpc-protocol-key-${CALLS[i]?.[0]}'`;
        return details === refusal && code === 'UNAVAILABLE';
      });
    };
    const all = CALLS.map(() => true);
    expect(await closed({})).toEqual(all);
    for (const open of API_CATEGORIES) {
      const rest = CALLS.map(([category]) => category !== open);
      expect(await closed({ [`triton-grpc-protocol-key-${open}`]: 's3cret' })).toEqual(rest);
      expect(await closed({ [`triton-grpc-protocol-key-${open}`]: 's3cre', [`key-${open}`]: 's3cret' })).toEqual(all);
    }
  });

  it('closes the standard health service with the other calls of health', async () => {
    await using served = await serve({ restrictedProtocols: [{ categories: ['health'], key: 'k', value: 'v' }] });
    const health = new HealthService(`127.0.0.1:${served.port}`, grpc.credentials.createInsecure());
    expect(await unary(health, 'Check', { request: {} })).toMatchObject({ code: 'UNAVAILABLE' });
    health.close();
  });
});

describe('metadata', () => {
  const request = addSubRequest({ parameters: { n: { int64_param: 1 }, user: { string_param: 'made up' } } });

  it.each(['ModelInfer', 'ModelStreamInfer'])(
    'that matches reaches the model as parameters through %s',
    async (rpc) => {
      const holding = new HoldingEngine();
      await using served = await serve({ wrap: holding.wrap, forwardHeaders: 'USER|content|grpc|path' });
      const answered = call(served, rpc, request, metadataOf({ user: 'me', other: 'x' }));
      const held = await holding.next();
      held.respond({ modelName: 'addsub', modelVersion: '1', outputs: [] });
      expect(await answered).toMatchObject({ code: 'OK' });
      const { 'user-agent': agent, ...parameters } = Object.fromEntries(held.parameters);
      expect([agent, parameters]).toEqual([expect.stringContaining('grpc-node'), { n: 1, user: 'me' }]);
    },
  );

  it.each(['ModelInfer', 'ModelStreamInfer'])('with a reserved name that matches is refused by %s', async (rpc) => {
    await using served = await serve({ forwardHeaders: 'timeout' });
    expect(await call(served, rpc, request, metadataOf({ timeout: '1' }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: expect.stringContaining('is reserved for Triton usage'),
    });
    expect(await call(served, rpc, request, metadataOf({ priority: '1' }))).toMatchObject({ code: 'OK' });
  });
});
