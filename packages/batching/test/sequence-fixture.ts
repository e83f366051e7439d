/**
 * A sequence scheduler over instances of the fake backend, on a clock moved by hand. The model adds: its output is the sum of the sequence's inputs since
 * START, kept in the state if there is one, else by the correlation ID.
 */
import { type InferenceRequest, type ModelInstance, silentLogger, type Tensor } from '@nereid/core';
import {
  FakeBackend,
  type FakeBackendOptions,
  ManualClock,
  RecordingResponder,
  requestFor,
  tensor,
  valuesOf,
} from '@nereid/testing';
import { type SequenceBatching, SequenceScheduler, type SequenceSchedulerOptions } from '../src/index.ts';

export const SECOND = 1_000_000;

export const STRATEGIES = [
  ['direct', { direct: {} }],
  ['oldest', { oldest: {} }],
] as const;

const control = (name: string, kind: 'START' | 'END' | 'READY') => ({
  name,
  control: [{ kind: `CONTROL_SEQUENCE_${kind}` as const, fp32FalseTrue: [0, 1] }],
});

/** START, END and READY as FP32, the correlation ID as `datatype`. */
export function allControls(dataType = 'TYPE_UINT64') {
  return [
    control('START', 'START'),
    control('END', 'END'),
    control('READY', 'READY'),
    { name: 'CORRID', control: [{ kind: 'CONTROL_SEQUENCE_CORRID' as const, dataType }] },
  ];
}

export interface SequenceFixtureOptions
  extends Omit<FakeBackendOptions, 'clock' | 'compute'>,
    Partial<Omit<SequenceSchedulerOptions, 'instances' | 'clock'>> {
  readonly instances?: number;
  readonly responder?: RecordingResponder;
}

export interface SendOptions {
  readonly start?: boolean;
  readonly end?: boolean;
  /** Size of the dimension after the batch's; 1 by default. */
  readonly columns?: number;
  readonly rows?: number;
  readonly timeoutMicroseconds?: number;
}

export interface SequenceFixture {
  readonly clock: ManualClock;
  readonly backend: FakeBackend;
  readonly scheduler: SequenceScheduler;
  readonly responder: RecordingResponder;
  readonly instances: readonly ModelInstance[];
  /** Makes a request that adds `value`. */
  prepare(id: number | bigint | string, value: number, options?: SendOptions): InferenceRequest;
  /** Enqueues such a request. */
  send(id: number | bigint | string, value: number, options?: SendOptions): InferenceRequest;
  /** Enqueues a whole sequence: START with the first value, END with the last. */
  sequence(id: number | string, values: readonly number[], options?: SendOptions): void;
  /** Batches by their size. */
  sizes(): Record<number, number>;
  /** `instance id:value id:value -` per batch, in the order of dispatch; `-` is a padded row. */
  batches(): string[];
  /** `id:value -@seconds reason` per batch. */
  timedBatches(): string[];
  /** `id=sum` or `id CODE` per answer, in order. */
  answered(): string[];
}

export async function sequenceFixture(options: SequenceFixtureOptions = {}): Promise<SequenceFixture> {
  const {
    instances: count = 1,
    maxBatchSize = 4,
    sequenceBatching = {},
    responder = new RecordingResponder(),
  } = options;
  const { maxQueueSize, canJoin, logger, afterTurn, ...behaviour } = options;
  const clock = new ManualClock();
  const sums = new Map<string, number>();
  const backend = new FakeBackend({
    serviceMicros: 1000,
    ...behaviour,
    clock,
    compute: (request) => [accumulate(request, sums)],
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
  const scheduler = new SequenceScheduler({
    instances,
    clock,
    maxBatchSize,
    sequenceBatching: { controlInput: allControls(), state: [{}], ...sequenceBatching } satisfies SequenceBatching,
    ...(maxQueueSize !== undefined && { maxQueueSize }),
    ...(canJoin && { canJoin }),
    ...(logger && { logger }),
    ...(afterTurn && { afterTurn }),
  });
  const prepare: SequenceFixture['prepare'] = (
    id,
    value,
    { start = false, end = false, columns = 1, rows = 1, ...more } = {},
  ) => {
    const x = tensor({ name: 'x', shape: [rows, columns], values: new Array(rows * columns).fill(value) });
    return requestFor({
      modelName: 'm',
      id: `${id}`,
      inputs: [x],
      batchSize: rows,
      responder,
      correlationId: id,
      sequenceStart: start,
      sequenceEnd: end,
      ...more,
    });
  };
  const send: SequenceFixture['send'] = (...init) => {
    const request = prepare(...init);
    scheduler.enqueue(request);
    return request;
  };
  return {
    clock,
    backend,
    scheduler,
    responder,
    instances,
    prepare,
    send,
    sequence: (id, values, more) => {
      for (const [i, value] of values.entries()) {
        send(id, value, { ...more, start: i === 0, end: i === values.length - 1 });
      }
    },
    sizes: () =>
      Object.fromEntries(scheduler.batching.sizes.map(({ batchSize, count: batches }) => [batchSize, batches])),
    batches: () => backend.batches.map(({ instance, requests }) => `${instance} ${rowsOf(requests)}`),
    timedBatches: () =>
      backend.batches.map(({ requests }) => {
        const first = requests.find(({ turn }) => turn?.isPadding === false);
        return `${rowsOf(requests)}@${(first?.dispatchedMicros ?? 0) / SECOND}s ${first?.batch?.reason}`;
      }),
    answered: () =>
      responder.answers.map(({ request, response, error }) => {
        const [sum] = response?.outputs ?? [];
        return error ? `${request.id} ${error.code}` : `${request.id}=${sum ? valuesOf(sum)[0] : ''}`;
      }),
  };
}

/** The control tensors of a request as values, by name. */
export function controlsOf(request: InferenceRequest): Record<string, number | bigint | string | undefined> {
  return Object.fromEntries((request.turn?.controls ?? []).map((tensor) => [tensor.name, valuesOf(tensor)[0]]));
}

function rowsOf(requests: readonly InferenceRequest[]): string {
  return requests.map((request) => (request.turn?.isPadding ? '-' : `${request.id}:${inputOf(request)}`)).join(' ');
}

function inputOf({ inputs: [x] }: InferenceRequest): number {
  return x === undefined ? Number.NaN : Number(valuesOf(x)[0]);
}

function accumulate(request: InferenceRequest, sums: Map<string, number>): Tensor {
  const { START, READY, CORRID } = controlsOf(request);
  const { turn } = request;
  if (turn === undefined) throw new Error('a request of a sequence model ran without its turn');
  const sum = (START === 1 ? 0 : previous(turn.state, sums.get(String(CORRID)))) + inputOf(request);
  if (READY === 1) sums.set(String(CORRID), sum);
  if (turn.state !== undefined) turn.state.held = new HeldSum(sum);
  return tensor({ name: 'sum', shape: [1, 1], values: [sum] });
}

function previous(state: { readonly held: unknown } | undefined, byId: number | undefined): number {
  if (state === undefined) return byId ?? Number.NaN;
  return state.held instanceof HeldSum ? state.held.sum : 0;
}

export class HeldSum {
  static released = 0;
  readonly sum: number;

  constructor(sum: number) {
    this.sum = sum;
  }

  release(): void {
    HeldSum.released++;
  }
}
