import {
  type Clock,
  type InferenceRequest,
  InferenceServerError,
  type InstanceContext,
  type ModelContext,
  type ModelInstance,
  type Tensor,
} from '@nereid/core';
import type { Computation } from './computations.ts';
import { type FakeResponses, FakeStream } from './fake-stream.ts';
import { ManualClock } from './manual-clock.ts';

/** One execution of a fake instance, recorded when it began. */
export interface RecordedBatch {
  readonly model: string;
  readonly version: string;
  readonly instance: string;
  readonly requests: readonly InferenceRequest[];
  /** Whether it came through `executeInline`. */
  readonly inline: boolean;
}

/** What the backend decides for its instances. */
export interface FakeInstanceInit {
  readonly model: ModelContext<unknown>;
  readonly context: InstanceContext;
  readonly compute: Computation;
  readonly serviceMicros: (batch: readonly InferenceRequest[]) => number;
  readonly capacity: number;
  readonly clock: Clock | undefined;
  /** Answers later, in place of `compute`. */
  readonly responses: FakeResponses | undefined;
  /** Called for every batch as it is taken; an error fails the batch. */
  readonly begin: (batch: RecordedBatch) => InferenceServerError | undefined;
  readonly closed: () => void;
}

/** An instance that runs batches one after another, each for its service time, and answers with what `compute` gives. */
export class FakeInstance implements ModelInstance {
  readonly name: string;
  readonly capacity: number;
  readonly #init: FakeInstanceInit;
  #inFlight = 0;
  /** When the batches taken so far are over. */
  #busyUntilMicros = 0;
  #isClosing = false;
  readonly #idle: (() => void)[] = [];

  constructor(init: FakeInstanceInit) {
    this.name = init.context.spec.name;
    this.capacity = init.capacity;
    this.#init = init;
  }

  /** @throws {Error} (as a rejection) when the caller exceeds `capacity`, sends an empty batch, or uses a closed instance: all defects of the caller */
  async execute(batch: readonly InferenceRequest[]): Promise<void> {
    this.#assertUsable(batch);
    if (this.#inFlight >= this.capacity) {
      throw new Error(`instance '${this.name}' takes ${this.capacity} batches at a time and was given one more`);
    }
    this.#inFlight++;
    const serviceMicros = this.#init.serviceMicros(batch);
    const failure = this.#init.begin(this.#record(batch, false));
    await this.#serve(serviceMicros);
    this.#answer(batch, { failure, serviceMicros });
    this.#inFlight--;
    if (this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    if (this.#inFlight > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    this.#init.closed();
  }

  /** Runs a batch within the call; on a clock its service time passes before it is answered. */
  protected runInline(batch: readonly InferenceRequest[]): void {
    this.#assertUsable(batch);
    if (this.#inFlight > 0)
      throw new Error(`instance '${this.name}' was asked to run inline while a batch is in flight`);
    const serviceMicros = this.#init.serviceMicros(batch);
    const failure = this.#init.begin(this.#record(batch, true));
    if (this.#init.clock !== undefined) block(this.#init.clock, serviceMicros);
    this.#answer(batch, { failure, serviceMicros });
  }

  #assertUsable(batch: readonly InferenceRequest[]): void {
    if (batch.length === 0) throw new Error(`instance '${this.name}' was given a batch without requests`);
    if (this.#isClosing) throw new Error(`instance '${this.name}' was given a batch after close()`);
  }

  #record(requests: readonly InferenceRequest[], inline: boolean): RecordedBatch {
    const { name, version } = this.#init.model;
    return { model: name, version, instance: this.name, requests, inline };
  }

  async #serve(serviceMicros: number): Promise<void> {
    const { clock } = this.#init;
    if (clock === undefined) return;
    const now = clock.nowMicros();
    this.#busyUntilMicros = Math.max(now, this.#busyUntilMicros) + serviceMicros;
    const until = this.#busyUntilMicros;
    if (until > now) await new Promise<void>((resolve) => clock.at(until, resolve));
  }

  #answer(
    batch: readonly InferenceRequest[],
    run: { readonly failure: InferenceServerError | undefined; readonly serviceMicros: number },
  ): void {
    const { responses } = this.#init;
    const results = run.failure ?? this.#compute(batch);
    if (results instanceof InferenceServerError) {
      for (const request of batch) request.fail(results);
      return;
    }
    this.#init.context.report({
      requests: batch,
      batchSize: batch.reduce((rows, request) => rows + request.batchSize, 0),
      computeInputNs: 0,
      computeInferNs: run.serviceMicros * 1000,
      computeOutputNs: 0,
    });
    if (responses !== undefined) {
      for (const request of batch) void new FakeStream(request, { ...this.#init, options: responses }).run();
      return;
    }
    const { name, version } = this.#init.model;
    for (const [request, outputs] of results) {
      const wanted = outputs.filter((output) => request.wants(output.name));
      request.respond({ modelName: name, modelVersion: version, outputs: wanted, release: releaseOnce(request) });
    }
  }

  #compute(batch: readonly InferenceRequest[]): Map<InferenceRequest, readonly Tensor[]> | InferenceServerError {
    if (this.#init.responses !== undefined) return new Map();
    try {
      return new Map(batch.map((request) => [request, this.#init.compute(request)]));
    } catch (thrown) {
      return InferenceServerError.from(thrown);
    }
  }
}

/** The same instance for a model that may run on the calling thread. */
export class FakeInlineInstance extends FakeInstance {
  executeInline(batch: readonly InferenceRequest[]): void {
    this.runInline(batch);
  }
}

function block(clock: Clock, micros: number): void {
  if (clock instanceof ManualClock) clock.block(micros);
  else for (const until = clock.nowMicros() + micros; clock.nowMicros() < until; );
}

/** A second call is a defect of the front end, so the fake says so instead of looking away. */
function releaseOnce(request: InferenceRequest): () => void {
  let isReleased = false;
  return () => {
    if (isReleased) throw new Error(`response of request '${request.id}' was released twice`);
    isReleased = true;
  };
}
