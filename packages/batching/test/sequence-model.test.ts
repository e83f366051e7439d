import { InferenceServerError } from '@nereid/core';
import { expect, it } from 'vitest';
import { uniform } from '../src/uniform.ts';
import { sequenceFixture } from './sequence-fixture.ts';
import { SequenceOracle } from './sequence-oracle.ts';

const STEPS = 10_000;
const IDS = 9;
const SERVICE = 100;
const IDLE = 1000;

interface Model {
  readonly isDirect: boolean;
  readonly instances: number;
  readonly capacity: number;
  readonly maxBatchSize: number;
  readonly maxQueueDelayMicroseconds: number;
}

/** One model with its scheduler, which is opened anew when it has stopped. */
class Subject {
  readonly #model: Model;
  #current: Awaited<ReturnType<Subject['open']>> | undefined;
  restarts = 0;
  answered = 0;

  constructor(model: Model) {
    this.#model = model;
  }

  async open() {
    const { isDirect, maxQueueDelayMicroseconds, ...rest } = this.#model;
    const delay = { maxQueueDelayMicroseconds };
    const strategy = isDirect ? { direct: { ...delay, minimumSlotUtilization: 0.5 } } : { oldest: delay };
    const oracle = new SequenceOracle({ idleMicros: IDLE, isDirect, maxBatchSize: rest.maxBatchSize });
    const fixture = await sequenceFixture({
      ...rest,
      responder: oracle,
      serviceMicros: (batch) => {
        oracle.began(batch);
        return SERVICE;
      },
      sequenceBatching: { ...strategy, maxSequenceIdleMicroseconds: IDLE },
    });
    oracle.fixture = fixture;
    return { fixture, oracle };
  }

  async current() {
    this.#current ??= await this.open();
    return this.#current;
  }

  async step(random: () => number): Promise<void> {
    const { fixture, oracle } = await this.current();
    const kind = random();
    if (kind < 0.6) {
      const value = random() < 0.02 ? Number.NaN : 1 + Math.floor(random() * 8);
      const timeoutMicroseconds = random() < 0.1 ? 50 + Math.floor(random() * 500) : 0;
      const flags = { start: random() < 0.3, end: random() < 0.25, timeoutMicroseconds };
      oracle.send(1 + Math.floor(random() * IDS), value, flags);
    } else if (kind < 0.66) {
      const { waiting } = oracle;
      const victim = waiting[Math.floor(random() * waiting.length)];
      if (victim !== undefined) oracle.cancel(victim);
    } else if (kind < 0.67) fixture.backend.failNextBatch(new InferenceServerError('INTERNAL', 'failed'));
    else if (kind < 0.672) this.#stop(oracle);
    else await this.elapse(kind < 0.68 ? IDLE + 500 : Math.floor(random() * 2 * SERVICE));
    oracle.check();
  }

  async elapse(micros: number): Promise<void> {
    const { fixture, oracle } = await this.current();
    await fixture.clock.elapse(micros);
    oracle.check();
  }

  /** Stops, and answers everyone. */
  async finish(): Promise<void> {
    const { oracle } = await this.current();
    this.#stop(oracle);
    for (const { restarts } = this; this.restarts === restarts; ) await this.elapse(SERVICE);
  }

  #stop(oracle: SequenceOracle): void {
    const stopping = this.#current;
    if (oracle.isStopping || stopping === undefined) return;
    oracle.isStopping = true;
    void stopping.fixture.scheduler.stop().then(() => {
      oracle.finish();
      this.answered += stopping.fixture.responder.answers.length;
      this.#current = undefined;
      this.restarts++;
    });
  }
}

it.each([1, 2, 3, 4])(
  'whatever is sent, cancelled, left idle and restarted, every request is answered as it must be: seed %i',
  async (seed) => {
    const random = uniform(seed);
    const pick = <T>(...choices: readonly T[]): T =>
      choices[Math.floor(random() * choices.length)] ?? (choices[0] as T);
    const models = [true, false].map(
      (isDirect) =>
        new Subject({
          isDirect,
          instances: pick(1, 2, 3),
          capacity: pick(1, 2),
          maxBatchSize: pick(1, 2, 4),
          maxQueueDelayMicroseconds: pick(0, 0, 70),
        }),
    );
    for (let step = 0; step < STEPS; step++) await pick(...models).step(random);
    for (const model of models) await model.finish();
    for (const { restarts, answered } of models) {
      expect(restarts).toBeGreaterThan(3);
      expect(answered).toBeGreaterThan(2000);
    }
  },
  60_000,
);
