/** A dynamic scheduler over instances of the fake backend, on a clock moved by hand. */
import type { InferenceRequest, ModelInstance } from '@nereid/core';
import { silentLogger } from '@nereid/core';
import {
  FakeBackend,
  type FakeBackendOptions,
  ManualClock,
  RecordingResponder,
  requestFor,
  tensor,
} from '@nereid/testing';
import { DynamicScheduler, type DynamicSchedulerOptions } from '../src/index.ts';

export const SECOND = 1_000_000;

export interface DynamicFixtureOptions
  extends Omit<FakeBackendOptions, 'clock'>,
    Partial<Omit<DynamicSchedulerOptions, 'instances' | 'clock' | 'inline'>> {
  readonly instances?: number;
  readonly lane?: DynamicSchedulerOptions['inline'];
}

interface SendOptions {
  /** Rows; 1 by default. */
  readonly rows?: number;
  /** Size of the dimension after the batch's: A is 16, B is 8. */
  readonly shape?: 'A' | 'B';
  readonly priority?: number | bigint;
  readonly timeoutMicroseconds?: number | bigint;
  readonly responder?: RecordingResponder;
}

export interface DynamicFixture {
  readonly clock: ManualClock;
  readonly backend: FakeBackend;
  readonly scheduler: DynamicScheduler;
  readonly responder: RecordingResponder;
  readonly instances: readonly ModelInstance[];
  /** Enqueues a new request. */
  send(id: string | number, options?: SendOptions): InferenceRequest;
  /** Occupies every instance for so long, with full batches that `batches` leaves out. To be called before anything is sent. */
  occupy(micros: number): void;
  /** `id,id@seconds reason` per batch, in the order of dispatch. */
  batches(): string[];
  /** `id` or `id CODE` per answer, in order. */
  answered(): string[];
}

export async function dynamicFixture(options: DynamicFixtureOptions = {}): Promise<DynamicFixture> {
  const {
    instances: count = 1,
    maxBatchSize = 8,
    dynamicBatching,
    maxQueueSize,
    lane,
    strategy,
    logger,
    modelName,
    afterTurn,
    canJoin,
    // The rules are told apart from the turns after a batch, of which `regrouping.test.ts` tells.
    regroupTurns = 0,
    doubleBuffering,
    ...behaviour
  } = options;
  const clock = new ManualClock();
  const busy = new Map<string, number>();
  const { serviceMicros = 0 } = behaviour;
  const backend = new FakeBackend({
    ...behaviour,
    clock,
    serviceMicros: (batch) =>
      busy.get(batch[0]?.id ?? '') ?? (typeof serviceMicros === 'number' ? serviceMicros : serviceMicros(batch)),
  });
  const directories = { modelDirectory: '/models/m', versionDirectory: '/models/m/1' };
  const context = { name: 'm', version: '1', ...directories, config: undefined, instances: [], logger: silentLogger };
  const model = await backend.load(context);
  const instances = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      model.createInstance({
        spec: { name: `m_${i}`, kind: 'KIND_CPU', deviceId: 0 },
        report: (execution) => scheduler.observe(execution),
      }),
    ),
  );
  const scheduler = new DynamicScheduler({
    instances,
    clock,
    maxBatchSize,
    ...(dynamicBatching && { dynamicBatching }),
    ...(maxQueueSize !== undefined && { maxQueueSize }),
    ...(lane && { inline: lane }),
    strategy,
    logger,
    modelName,
    ...(afterTurn && { afterTurn }),
    canJoin,
    regroupTurns,
    ...(doubleBuffering !== undefined && { doubleBuffering }),
  });
  const responder = new RecordingResponder();
  const send: DynamicFixture['send'] = (id, { rows = 1, shape = 'A', ...more } = {}) => {
    const request = requestOf({ id: String(id), rows, shape, ...more, responder: more.responder ?? responder });
    scheduler.enqueue(request);
    return request;
  };
  return {
    clock,
    backend,
    scheduler,
    responder,
    instances,
    send,
    occupy: (micros) => {
      for (let i = 0; i < count; i++) {
        busy.set(`busy ${i}`, micros);
        send(`busy ${i}`, { rows: maxBatchSize, responder: new RecordingResponder() });
      }
    },
    batches: () =>
      backend.batches
        .filter(({ requests }) => !busy.has(requests[0]?.id ?? ''))
        .map(({ requests: [first, ...others] }) => {
          const ids = [first, ...others].map((request) => request?.id).join();
          return `${ids}@${(first?.dispatchedMicros ?? 0) / SECOND}s ${first?.batch?.reason}`;
        }),
    answered: () => responder.answers.map(({ request, error }) => (error ? `${request.id} ${error.code}` : request.id)),
  };
}

function requestOf(init: SendOptions & { readonly id: string; readonly rows: number; readonly shape: 'A' | 'B' }) {
  const { rows, shape, ...more } = init;
  const columns = shape === 'A' ? 16 : 8;
  const x = tensor({ name: 'x', shape: [rows, columns], values: new Array(rows * columns).fill(1) });
  return requestFor({ modelName: 'm', inputs: [x], batchSize: rows, ...more });
}
