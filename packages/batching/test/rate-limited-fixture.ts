/** Schedulers of several models before one rate limiter, over instances of the fake backend, on a clock moved by hand. */
import { type InferenceRequest, type ModelInstance, type Scheduler, silentLogger } from '@nereid/core';
import { FakeBackend, ManualClock, RecordingResponder, type RequestForInit, requestFor, tensor } from '@nereid/testing';
import {
  DefaultScheduler,
  type DynamicBatching,
  DynamicScheduler,
  type InstanceDemand,
  RateLimiter,
  type RateLimiterOptions,
  type SchedulerOptions,
  type SequenceBatching,
  SequenceScheduler,
} from '../src/index.ts';

/** What every batch takes. */
export const SERVICE = 100;

export type SchedulerKind =
  | { readonly default?: true }
  | { readonly dynamic: DynamicBatching }
  | { readonly sequence: SequenceBatching };

export interface ModelOptions {
  readonly name: string;
  /** One for each instance. */
  readonly instances: readonly InstanceDemand[];
  readonly kind?: SchedulerKind;
  /** Rows of a batch; 4 by default. */
  readonly maxBatchSize?: number;
}

/** One execution. */
export interface Run {
  readonly instance: string;
  /** Ids of its requests, in order. */
  readonly ids: string;
  readonly start: number;
}

export class RateLimitedServer {
  readonly clock = new ManualClock();
  readonly responder = new RecordingResponder();
  readonly limiter: RateLimiter;
  readonly backend = new FakeBackend({ clock: this.clock, serviceMicros: SERVICE, capacity: 3, inline: true });

  constructor(options: RateLimiterOptions = {}) {
    this.limiter = new RateLimiter(options);
  }

  /** Executions so far, in the order in which they began. */
  get runs(): readonly Run[] {
    return this.backend.batches.map(({ instance, requests }) => ({
      instance,
      ids: requests.map(({ id }) => id).join(),
      start: requests[0]?.dispatchedMicros ?? Number.NaN,
    }));
  }

  async open({ name, instances: demands, kind = {}, maxBatchSize = 4 }: ModelOptions): Promise<LimitedModel> {
    const directories = { modelDirectory: `/${name}`, versionDirectory: `/${name}/1` };
    const context = { name, version: '1', ...directories, config: undefined, instances: [], logger: silentLogger };
    const model = await this.backend.load(context);
    const limited = this.limiter.register(demands);
    const rateLimits: [ModelInstance, (typeof limited)[number]][] = [];
    for (const [i, place] of limited.entries()) {
      const spec = { name: `${name}_${i}`, kind: 'KIND_CPU' as const, deviceId: 0 };
      const instance = await model.createInstance({ spec, report: (execution) => scheduler.observe(execution) });
      rateLimits.push([instance, place]);
    }
    const options: SchedulerOptions = {
      instances: rateLimits.map(([instance]) => instance),
      rateLimits: new Map(rateLimits),
      clock: this.clock,
      inline: { maxRunMicros: 10 * SERVICE },
    };
    const scheduler = schedulerOf(kind, { ...options, maxBatchSize });
    const send: LimitedModel['send'] = (id, init = {}) => {
      const inputs = [tensor({ name: 'x', shape: [1, 1], values: [1] })];
      const request = requestFor({ id, modelName: name, inputs, responder: this.responder, ...init });
      scheduler.enqueue(request);
      return request;
    };
    return { scheduler, send };
  }
}

export interface LimitedModel {
  readonly scheduler: Scheduler;
  send(id: string, init?: RequestForInit): InferenceRequest;
}

function schedulerOf(
  kind: SchedulerKind,
  options: SchedulerOptions & { readonly maxBatchSize: number },
): DefaultScheduler | DynamicScheduler | SequenceScheduler {
  if ('dynamic' in kind) return new DynamicScheduler({ ...options, dynamicBatching: kind.dynamic });
  if ('sequence' in kind) return new SequenceScheduler({ ...options, sequenceBatching: kind.sequence });
  return new DefaultScheduler(options);
}
