/** However a call ends, nothing of its state is left while server and connection go on. V8 itself counts the objects, after a full collection. */
import { queryObjects } from 'node:v8';
import grpc from '@grpc/grpc-js';
import { InferenceServerError } from '@nereid/core';
import { HoldingEngine } from '@nereid/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Call } from '../src/call.ts';
import { addSubRequest, type Served, serve } from './fixture.ts';

const CALLS = 10;
const DEADLINE_MS = 40;

interface Begun {
  readonly call: grpc.ClientUnaryCall | grpc.ClientDuplexStream<object, unknown>;
  readonly code: Promise<string>;
}

type Begin = (served: Served, options?: grpc.CallOptions) => Begun;

const codeOf = (call: Begun['call']) =>
  new Promise<string>((resolve) => call.on('status', ({ code }) => resolve(grpc.status[code] ?? '')));

const unary: Begin = (served, options = {}) => {
  // biome-ignore lint/suspicious/noExplicitAny: the methods of a client are made from the .proto
  const call = (served.client as any).ModelInfer(addSubRequest(), options, () => {});
  return { call, code: codeOf(call) };
};

/** Fails as a whole when its request does. */
const stream: Begin = (served, options = {}) => {
  const metadata = new grpc.Metadata();
  metadata.set('triton_grpc_error', 'true');
  // biome-ignore lint/suspicious/noExplicitAny: the methods of a client are made from the .proto
  const call = (served.client as any).ModelStreamInfer(metadata, options);
  call.on('error', () => {});
  call.on('data', () => {});
  call.write(addSubRequest());
  return { call, code: codeOf(call) };
};

/** What an engine does with a request whose client has gone. */
async function letGo(holding: HoldingEngine): Promise<void> {
  await holding.until(() => holding.cancelled.length > 0);
  holding.cancelled.shift()?.fail(new InferenceServerError('CANCELLED', 'cancelled'));
}

/** Lets one call begin and end; resolves with its status. */
type Way = (served: Served, holding: HoldingEngine, begin: Begin) => Promise<string>;

const answered: Way = async (served, holding, begin) => {
  const { call, code } = begin(served);
  (await holding.next()).respond({ modelName: 'addsub', modelVersion: '1', outputs: [] });
  if ('end' in call) call.end();
  return code;
};

const failed: Way = async (served, holding, begin) => {
  const { code } = begin(served);
  (await holding.next()).fail(new InferenceServerError('INTERNAL', 'broken'));
  return code;
};

const left: Way = async (served, holding, begin) => {
  const { call, code } = begin(served);
  await holding.next();
  call.cancel();
  await letGo(holding);
  return code;
};

const late: Way = async (served, holding, begin) => {
  const { code } = begin(served, { deadline: Date.now() + DEADLINE_MS });
  await holding.next();
  await letGo(holding);
  return code;
};

/** Calls, and with them what handles them: a handler holds its call. */
const callsLeft = () => queryObjects(Call, { format: 'count' });

const holding = new HoldingEngine();
let served: Served;
beforeAll(async () => {
  served = await serve({ wrap: holding.wrap });
});
afterAll(() => served[Symbol.asyncDispose]());

it.each([
  ['a call that is answered', unary, answered, 'OK'],
  ['a call that fails', unary, failed, 'INTERNAL'],
  ['a call whose client leaves', unary, left, 'CANCELLED'],
  ['a call whose deadline passes', unary, late, 'DEADLINE_EXCEEDED'],
  ['a stream that is answered', stream, answered, 'OK'],
  ['a stream that fails', stream, failed, 'INTERNAL'],
  ['a stream whose client leaves', stream, left, 'CANCELLED'],
  ['a stream whose deadline passes', stream, late, 'DEADLINE_EXCEEDED'],
] as const)('%s leaves nothing behind', async (_, begin, way, expected) => {
  for (let i = 0; i < CALLS; i++) expect(await way(served, holding, begin)).toBe(expected);
  // A later call on the connection is served when what was sent for the ones before is done with.
  expect((await served.unary('ServerLive', {})).code).toBe('OK');
  expect(callsLeft()).toBe(0);
});

it('a call under way is counted', async () => {
  const { call, code } = stream(served);
  const request = await holding.next();
  expect(callsLeft()).toBe(1);
  call.cancel();
  await letGo(holding);
  expect([await code, request.isCancelled]).toEqual(['CANCELLED', true]);
});
