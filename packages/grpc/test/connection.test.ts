/** Connections beside their calls, with the clients of grpc-js and Python, and with bare HTTP/2. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { connect as connectTcp, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import grpc from '@grpc/grpc-js';
import { HoldingEngine, usePython } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import type { ConnectionLimits } from '../src/index.ts';
import { addSubRequest, InferenceService, type Served, serve, unary } from './fixture.ts';

const INFER = '/inference.GRPCInferenceService/ModelInfer';
const LIVE = '/inference.GRPCInferenceService/ServerLive';
const ENHANCE_YOUR_CALM = 11;
const NO_MESSAGE = Buffer.alloc(5);

interface Farewell {
  readonly code: number;
  readonly data: string;
}

/** A bare connection, and how it was told to end. */
async function open({ port }: Served): Promise<{ session: ClientHttp2Session; farewell: () => Promise<Farewell> }> {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  await once(session, 'connect');
  const farewell = once(session, 'goaway').then(([code, , data]) => ({ code, data: String(data ?? '') }));
  return { session, farewell: () => farewell };
}

function call(session: ClientHttp2Session, path = LIVE): ClientHttp2Stream {
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' });
  stream.on('error', () => {});
  stream.resume();
  return stream;
}

async function answeredCall(session: ClientHttp2Session): Promise<void> {
  const stream = call(session);
  stream.end(NO_MESSAGE);
  await once(stream, 'close');
}

/** Whether it was answered. */
function ping(session: ClientHttp2Session): Promise<boolean> {
  return new Promise((resolve) => {
    session.once('close', () => resolve(false));
    if (session.destroyed || !session.ping((error) => resolve(error === null))) resolve(false);
  });
}

/** What happens to so many pings in a row. */
async function pings(session: ClientHttp2Session, { count, everyMs = 0 }: { count: number; everyMs?: number }) {
  let answered = 0;
  for (let i = 0; i < count; i++) {
    if (await ping(session)) answered++;
    await sleep(everyMs);
  }
  return answered;
}

/** A stretch of network that can go dead without a word. */
async function openCable(port: number) {
  const sockets: Socket[] = [];
  let connections = 0;
  const cable = createServer((near) => {
    connections++;
    const far = connectTcp(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => {});
      from.pipe(to);
      sockets.push(from);
    }
  });
  cable.listen(0, '127.0.0.1');
  await once(cable, 'listening');
  const address = cable.address();
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    get connections() {
      return connections;
    },
    die: () => {
      for (const socket of sockets) socket.unpipe();
    },
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
      cable.close();
    },
  };
}

const limited = (connections: Partial<ConnectionLimits>, holding?: HoldingEngine) =>
  serve({ connections, ...(holding && { wrap: holding.wrap }) });

describe('a client that pings', () => {
  it('too often is told to calm down, and its connection ends with its calls', async () => {
    const holding = new HoldingEngine();
    await using served = await limited({}, holding);
    const { session, farewell } = await open(served);
    const stream = call(session, INFER);
    expect(await pings(session, { count: 3 })).toBe(3);
    void ping(session);
    expect(await farewell()).toEqual({ code: ENHANCE_YOUR_CALM, data: 'too_many_pings' });
    if (!stream.destroyed) await once(stream, 'close');
    expect((await served.unary('ServerLive', {})).code).toBe('OK');
  });

  it('between its answers may do so at any time', async () => {
    await using served = await limited({});
    const { session } = await open(served);
    for (let i = 0; i < 8; i++) {
      await answeredCall(session);
      expect(await ping(session)).toBe(true);
    }
    session.close();
  });

  it.each<[name: string, limits: Partial<ConnectionLimits>, opensCall: boolean, answered: number]>([
    ['no more often than it may', { minPingIntervalMs: 5 }, true, 8],
    ['as often, without a call', { minPingIntervalMs: 5 }, false, 3],
    [
      'as often, without a call, where that is permitted',
      { minPingIntervalMs: 5, keepalivePermitWithoutCalls: true },
      false,
      8,
    ],
    ['where one strike is allowed', { maxPingStrikes: 1 }, true, 2],
    ['where strikes are not counted', { maxPingStrikes: 0 }, true, 8],
  ])('%s', async (_, limits, opensCall, answered) => {
    await using served = await limited(limits);
    const { session } = await open(served);
    if (opensCall) call(session, INFER);
    // The one that is too much is answered too, or not: its connection ends.
    const seen = await pings(session, { count: 8, everyMs: 10 });
    expect(answered === 8 ? seen : Math.min(seen, answered)).toBe(answered);
    expect(session.destroyed).toBe(answered < 8);
    session.destroy();
  });
});

describe('a client that is not heard of', () => {
  it('is asked, and its calls are cancelled when it does not answer', async () => {
    const holding = new HoldingEngine();
    await using served = await limited({ keepaliveTimeMs: 30, keepaliveTimeoutMs: 100 }, holding);
    using cable = await openCable(served.port);
    const client = new InferenceService(`127.0.0.1:${cable.port}`, grpc.credentials.createInsecure());
    void unary(client, 'ModelInfer', { request: addSubRequest() });
    await holding.until(() => holding.held.length === 1);
    cable.die();
    await holding.until(() => holding.cancelled.length === 1);
    client.close();
  });

  it('but answers keeps its call, however long that takes', async () => {
    const holding = new HoldingEngine();
    await using served = await limited({ keepaliveTimeMs: 10, keepaliveTimeoutMs: 5_000 }, holding);
    const { session } = await open(served);
    let asked = 0;
    const often = new Promise<void>((resolve) => {
      session.on('ping', () => {
        if (++asked === 5) resolve();
      });
    });
    const stream = call(session, INFER);
    await often;
    expect([session.destroyed, stream.destroyed]).toEqual([false, false]);
    session.destroy();
  });

  it.each<[name: string, limits: Partial<ConnectionLimits>, opensCall: boolean, asked: number]>([
    ['and has no call is not asked', {}, false, 0],
    ['and has no call is asked where that is permitted', { keepalivePermitWithoutCalls: true }, false, 1],
    ['is asked so many times while nothing is sent', { maxPingsWithoutData: 2 }, true, 2],
    ['is never asked where there is no time for it', { keepaliveTimeMs: 0 }, true, 0],
    ['is never asked after the longest time there is', { keepaliveTimeMs: 2 ** 31 - 1 }, true, 0],
  ])('%s', async (_, limits, opensCall, expected) => {
    await using served = await limited({ keepaliveTimeMs: 10, ...limits });
    const { session } = await open(served);
    let asked = 0;
    session.on('ping', () => asked++);
    if (opensCall) call(session, INFER);
    await sleep(200);
    if (expected === 1) expect(asked).toBeGreaterThan(0);
    else expect(asked).toBe(expected);
    session.destroy();
  });
});

describe('a connection of age', () => {
  it('is given up while its client goes on calling, and no call fails', async () => {
    await using served = await limited({ maxAgeMs: 60 });
    using cable = await openCable(served.port);
    const client = new InferenceService(`127.0.0.1:${cable.port}`, grpc.credentials.createInsecure());
    const codes = new Set<string>();
    while (cable.connections < 4) {
      const calls = [0, 1, 2, 3].map(() => unary(client, 'ModelInfer', { request: addSubRequest() }));
      for (const { code } of await Promise.all(calls)) codes.add(code);
    }
    expect([...codes]).toEqual(['OK']);
    client.close();
  });

  it('lets its calls end first', async () => {
    const holding = new HoldingEngine();
    await using served = await limited({ maxAgeMs: 30 }, holding);
    const { session, farewell } = await open(served);
    const client = served.unary('ModelInfer', addSubRequest());
    const request = await holding.next();
    const stream = call(session, INFER);
    expect(await farewell()).toEqual({ code: 0, data: 'max_age' });
    await sleep(50);
    expect(stream.destroyed).toBe(false);
    request.respond({ modelName: 'addsub', modelVersion: '1', outputs: [] });
    expect((await client).code).toBe('OK');
    stream.end();
    await once(session, 'close');
  });

  it('cuts off what takes longer than the grace', async () => {
    const holding = new HoldingEngine();
    await using served = await limited({ maxAgeMs: 30, maxAgeGraceMs: 30 }, holding);
    const outcome = served.unary('ModelInfer', addSubRequest());
    await holding.until(() => holding.cancelled.length === 1);
    expect((await outcome).code).not.toBe('OK');
  });
});

describe('the client of Python', () => {
  const run = promisify(execFile);
  const script = fileURLToPath(new URL('keepalive.py', import.meta.url));

  /** How a call of three seconds goes whose client pings once a second: it does so no more often, whatever it is told. */
  async function outcome(connections: Partial<ConnectionLimits>): Promise<string> {
    const holding = new HoldingEngine();
    await using served = await limited({ maxPingStrikes: 1, ...connections }, holding);
    const answered = run(usePython(), [script, String(served.port)]);
    const request = await holding.next();
    const timer = setTimeout(() => request.respond({ modelName: 'addsub', modelVersion: '1', outputs: [] }), 3000);
    const { stdout } = await answered;
    clearTimeout(timer);
    return stdout;
  }

  it('is served while it pings as often as it may, and refused when it pings too often', async () => {
    const [patient, impatient] = await Promise.all([outcome({ minPingIntervalMs: 500 }), outcome({})]);
    expect(patient).toBe('OK\n');
    expect(impatient).toMatch(/^UNAVAILABLE .*Error code: 11/);
  });
});
