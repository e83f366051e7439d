import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ManualClock } from '@nereid/testing';
import { describe, expect, it } from 'vitest';
import { type Frame, SupervisedProcess, SupervisorError, type SupervisorOptions } from '../../src/supervisor/index.ts';
import { CollectingLogger } from '../collecting-logger.ts';

const CHILD = join(dirname(fileURLToPath(import.meta.url)), 'child.mjs');
const ECHO = 16;
const KILL_YOURSELF = 18;

interface SuperviseOptions extends SupervisorOptions {
  readonly behaviour: string;
  readonly command?: string;
  /** Behaviour of each start after the first. */
  readonly later?: string;
}

/** A supervised child of this test, and everything heard of it. */
class Subject {
  readonly logger = new CollectingLogger();
  readonly process: SupervisedProcess;
  readonly frames: Frame[] = [];
  readonly payloads: string[] = [];
  readonly downs: SupervisorError[] = [];
  readonly #waiting: { readonly met: () => boolean; readonly resolve: () => void }[] = [];

  constructor({ behaviour, later = behaviour, command = process.execPath, ...options }: SuperviseOptions) {
    let starts = 0;
    this.process = new SupervisedProcess({
      name: 'the child',
      linePrefix: 'c: ',
      logFields: {},
      logger: this.logger,
      options: { random: () => 0, ...options },
      launch: () => ({
        command,
        args: [CHILD, starts++ === 0 ? behaviour : later],
        env: process.env,
        descriptors: [],
        start: Buffer.from(`start ${starts}`),
      }),
      listeners: {
        ready: (payload) => this.#heard(() => this.payloads.push(payload.toString())),
        frame: (frame) => this.#heard(() => this.frames.push(frame)),
        down: (error) => this.#heard(() => this.downs.push(error)),
      },
    });
  }

  until(met: () => boolean): Promise<void> {
    return met() ? Promise.resolve() : new Promise((resolve) => this.#waiting.push({ met, resolve }));
  }

  #heard(note: () => void): void {
    note();
    for (const { met, resolve } of this.#waiting) if (met()) resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.process.stop();
  }
}

async function startFailure(subject: Subject): Promise<SupervisorError> {
  const thrown: unknown = await subject.process.start().then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof SupervisorError) return thrown;
  throw new Error(`start gave ${String(thrown)}`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('start', () => {
  it('hands over the start payload, and is ready when the child says so', async () => {
    await using subject = new Subject({ behaviour: 'echo' });
    expect(subject.process.state).toEqual({ kind: 'idle' });
    await subject.process.start();
    expect(subject.payloads).toEqual(['start 1']);
    expect(subject.process.state).toMatchObject({ kind: 'ready' });
    subject.process.send(ECHO, Buffer.from('hello'));
    await subject.until(() => subject.frames.length === 1);
    expect(subject.frames[0]).toMatchObject({ type: 17, payload: Buffer.from('hello') });
  });

  it('gives what the child said when it cannot start, and does not try again', async () => {
    await using subject = new Subject({ behaviour: 'refuse' });
    const error = await startFailure(subject);
    expect(error).toMatchObject({ reason: 'start-failed', message: 'the child could not start' });
    expect(Buffer.from(error.detail).toString()).toBe('no model');
    expect(subject.process.state).toEqual({ kind: 'stopped' });
    expect(subject.downs).toEqual([]);
  });

  it('gives exit code and last lines of a child that ends before it is ready', async () => {
    await using subject = new Subject({ behaviour: 'exit' });
    const error = await startFailure(subject);
    expect(error).toMatchObject({ reason: 'exit', message: 'the child ended with exit code 3 before it was ready' });
    expect(error.lastLines).toEqual(['first line', 'last line']);
  });

  it('kills a child that is not ready in time', async () => {
    const clock = new ManualClock();
    await using subject = new Subject({ behaviour: 'silent', startTimeoutMs: 5_000, clock });
    const failure = startFailure(subject);
    clock.advance(5_000_000);
    const error = await failure;
    expect(error).toMatchObject({
      reason: 'start-timeout',
      message: 'the child was not ready within 5 s and was killed',
    });
  });

  it('says that there is no such program', async () => {
    await using subject = new Subject({ behaviour: 'echo', command: '/no/such/program' });
    expect(await startFailure(subject)).toMatchObject({
      reason: 'spawn',
      message: 'the child could not be started: spawn /no/such/program ENOENT',
    });
  });

  it('is refused a second time', async () => {
    await using subject = new Subject({ behaviour: 'echo' });
    await subject.process.start();
    await expect(subject.process.start()).rejects.toThrow('the child was started twice');
  });
});

describe('output', () => {
  it('goes to the log line by line, standard output as info and standard error as warning', async () => {
    const subject = new Subject({ behaviour: 'logs' });
    await subject.process.start();
    await subject.process.stop();
    expect(new Set(subject.logger.lines)).toEqual(
      new Set([
        'debug: debug sentence',
        'error: error sentence',
        'info: c: out line',
        'info: c: no end',
        'warn: c: err ü line',
      ]),
    );
  });
});

describe('restart', () => {
  it('comes after a delay that doubles with each end in a row, up to its bound', async () => {
    const clock = new ManualClock();
    await using subject = new Subject({ behaviour: 'echo', clock, backoff: { initialMs: 100, maxMs: 300 } });
    await subject.process.start();
    const delays: number[] = [];
    for (let life = 1; life <= 4; life++) {
      subject.process.send(KILL_YOURSELF, Buffer.alloc(0));
      await subject.until(() => subject.downs.length === life);
      const { state } = subject.process;
      if (state.kind === 'waiting') delays.push((state.restartAtMicros - clock.nowMicros()) / 1000);
      clock.advance((delays.at(-1) ?? 0) * 1000);
      await subject.until(() => subject.payloads.length === life + 1);
    }
    expect(delays).toEqual([100, 200, 300, 300]);
    expect(subject.downs[0]?.message).toBe('the child was ended by signal SIGKILL');
    expect(subject.payloads.at(-1)).toBe('start 5');
    expect(subject.logger.lines).toContain('info: the child is ready again');
  });

  it('counts anew after a life that was long enough', async () => {
    const clock = new ManualClock();
    await using subject = new Subject({ behaviour: 'echo', clock, backoff: { initialMs: 100 }, healthyAfterMs: 1_000 });
    await subject.process.start();
    for (let life = 1; life <= 2; life++) {
      clock.advance(1_000_000);
      subject.process.send(KILL_YOURSELF, Buffer.alloc(0));
      await subject.until(() => subject.downs.length === life);
      expect(subject.process.state).toMatchObject({ kind: 'waiting', failures: 1 });
      clock.advance(100_000);
      await subject.until(() => subject.payloads.length === life + 1);
    }
  });

  it('goes on after a start that failed', async () => {
    const clock = new ManualClock();
    await using subject = new Subject({ behaviour: 'echo', later: 'refuse', clock, backoff: { initialMs: 100 } });
    await subject.process.start();
    subject.process.send(KILL_YOURSELF, Buffer.alloc(0));
    await subject.until(() => subject.downs.length === 1);
    clock.advance(100_000);
    await subject.until(() => subject.downs.length === 2);
    expect(subject.downs[1]?.reason).toBe('start-failed');
    expect(subject.process.state).toMatchObject({ kind: 'waiting', failures: 2 });
  });

  it.each([
    { title: 'of an unknown type', frame: 19, reason: 'a message of type 9' },
    { title: 'larger than the limit', frame: 20, reason: 'a message of 2147483648 bytes; at most 16777216 are taken' },
  ])('follows a message $title, for which the child is killed', async ({ frame, reason }) => {
    await using subject = new Subject({ behaviour: 'echo' });
    await subject.process.start();
    subject.process.send(frame, Buffer.alloc(0));
    await subject.until(() => subject.downs.length === 1);
    expect(subject.downs[0]).toMatchObject({ reason: 'protocol' });
    expect(subject.downs[0]?.message).toContain(reason);
  });
});

describe('stop', () => {
  it('kills a child that does not end when asked', async () => {
    const clock = new ManualClock();
    const subject = new Subject({ behaviour: 'stubborn', clock, stopTimeoutMs: 1_000 });
    await subject.process.start();
    const { state } = subject.process;
    const stopped = subject.process.stop();
    clock.advance(1_000_000);
    await stopped;
    expect(state.kind === 'ready' && state.pid !== undefined && isAlive(state.pid)).toBe(false);
    expect(subject.downs).toEqual([]);
  });

  it('ends a child that is starting at once', async () => {
    const subject = new Subject({ behaviour: 'silent' });
    const failure = startFailure(subject);
    await subject.process.stop();
    expect(await failure).toMatchObject({ reason: 'stopped' });
  });

  it('forgets a restart that was due', async () => {
    const clock = new ManualClock();
    const subject = new Subject({ behaviour: 'echo', clock });
    await subject.process.start();
    subject.process.send(KILL_YOURSELF, Buffer.alloc(0));
    await subject.until(() => subject.downs.length === 1);
    await subject.process.stop();
    clock.advance(60_000_000);
    expect(subject.process.state).toEqual({ kind: 'stopped' });
    expect(subject.payloads).toHaveLength(1);
  });

  it('ends what the child started, also when that holds its pipes open', async () => {
    const subject = new Subject({ behaviour: 'family' });
    await subject.process.start();
    await subject.until(() => subject.frames.length === 1);
    const grandchild = Number(subject.frames[0]?.payload);
    expect(isAlive(grandchild)).toBe(true);
    await subject.process.stop();
    await gone(grandchild);
  });
});

/** Resolves when a process that was killed is no longer there: the system takes a moment to clear it away. */
async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) {
    const [state] = await once(spawn('ps', ['-o', 'stat=', '-p', String(pid)]).stdout, 'data').catch(() => ['']);
    if (String(state).startsWith('Z')) return;
  }
}
