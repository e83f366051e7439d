/** A scheduler over instances of the fake backend, on a clock moved by hand. */
import type { InferenceRequest, ModelInstance } from '@nereid/core';
import { silentLogger } from '@nereid/core';
import { FakeBackend, type FakeBackendOptions, ManualClock, RecordingResponder, requestFor } from '@nereid/testing';
import { DefaultScheduler, type SchedulerOptions } from '../src/index.ts';

export interface FixtureOptions extends Omit<FakeBackendOptions, 'clock'> {
  readonly instances?: number;
  readonly scheduler?: Omit<SchedulerOptions, 'instances' | 'clock'>;
  /** Whether the instances' reports go to the scheduler; true by default. */
  readonly isObserved?: boolean;
}

export interface Fixture {
  readonly clock: ManualClock;
  readonly backend: FakeBackend;
  readonly scheduler: DefaultScheduler;
  readonly responder: RecordingResponder;
  readonly instances: readonly ModelInstance[];
  /** Enqueues a new request with this id. */
  send(id: string | number): InferenceRequest;
  /** Ids in the order in which instances took them. */
  started(): string[];
  /** `id` or `id CODE` per answer, in order. */
  answered(): string[];
}

export async function fixtureOf(options: FixtureOptions = {}): Promise<Fixture> {
  const { instances: count = 1, scheduler: schedulerOptions = {}, isObserved = true, ...behaviour } = options;
  const clock = new ManualClock();
  const backend = new FakeBackend({ serviceMicros: 100, ...behaviour, clock });
  const directories = { modelDirectory: '/models/m', versionDirectory: '/models/m/1' };
  const model = await backend.load({
    name: 'm',
    version: '1',
    ...directories,
    config: undefined,
    instances: [],
    logger: silentLogger,
  });
  const instances = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      model.createInstance({
        spec: { name: `m_${i}`, kind: 'KIND_CPU', deviceId: 0 },
        report: (execution) => {
          if (isObserved) scheduler.observe(execution);
        },
      }),
    ),
  );
  const scheduler = new DefaultScheduler({ instances, clock, ...schedulerOptions });
  const responder = new RecordingResponder();
  return {
    clock,
    backend,
    scheduler,
    responder,
    instances,
    send: (id) => {
      const request = requestFor({ id: String(id), modelName: 'm', responder });
      scheduler.enqueue(request);
      return request;
    },
    started: () => backend.batches.flatMap((batch) => batch.requests.map((request) => request.id)),
    answered: () => responder.answers.map(({ request, error }) => (error ? `${request.id} ${error.code}` : request.id)),
  };
}
