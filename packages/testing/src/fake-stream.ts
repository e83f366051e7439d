import type { Clock, InferenceRequest, InferenceResponse, InstanceContext, ModelContext, Tensor } from '@nereid/core';
import { InferenceServerError } from '@nereid/core';

/** How a fake decoupled model answers. */
export interface FakeResponses {
  /** The outputs of each response to a request, before its own selection; an error ends the request. */
  readonly of: (request: InferenceRequest) => readonly (readonly Tensor[] | InferenceServerError)[];
  /** Microseconds that each response takes, the final mark included, on the backend's clock; 0 by default. */
  readonly everyMicros?: number;
  /** Responses of a request that may be unreleased; any number by default. */
  readonly window?: number;
}

/** The answers to one request of a decoupled model: one by one, then the final mark alone; a cancelled request ends with the one it is at. */
export class FakeStream {
  readonly #request: InferenceRequest;
  readonly #model: ModelContext<unknown>;
  readonly #report: NonNullable<InstanceContext['reportResponse']>;
  readonly #clock: Clock | undefined;
  readonly #options: FakeResponses;
  readonly #left: (readonly Tensor[] | InferenceServerError)[];
  #index = 0;
  #unreleased = 0;
  #released: () => void = () => {};

  constructor(
    request: InferenceRequest,
    init: {
      readonly model: ModelContext<unknown>;
      readonly context: InstanceContext;
      readonly clock: Clock | undefined;
      readonly options: FakeResponses;
    },
  ) {
    this.#request = request;
    this.#model = init.model;
    this.#clock = init.clock;
    this.#options = init.options;
    this.#report = (response) => init.context.reportResponse?.(response);
    this.#left = [...init.options.of(request)];
  }

  /** Resolves when the request is finished. */
  async run(): Promise<void> {
    const request = this.#request;
    request.onCancel = () => this.#finish(cancelled(request));
    if (request.isCancelled) this.#finish(cancelled(request));
    while (!request.isDone) {
      await this.#wait();
      if (request.isDone) return;
      const next = this.#left.shift();
      if (next === undefined || next instanceof InferenceServerError) this.#finish(next);
      else this.#respond(next);
    }
  }

  async #wait(): Promise<void> {
    const { everyMicros = 0, window = Number.POSITIVE_INFINITY } = this.#options;
    const clock = this.#clock;
    if (clock !== undefined && everyMicros > 0)
      await new Promise<void>((resolve) => clock.at(clock.nowMicros() + everyMicros, resolve));
    while (this.#unreleased >= window && !this.#request.isDone) {
      await new Promise<void>((resolve) => {
        this.#released = resolve;
      });
    }
  }

  #respond(outputs: readonly Tensor[]): void {
    const { name, version } = this.#model;
    const wanted = outputs.filter((output) => this.#request.wants(output.name));
    this.#count('success');
    this.#unreleased++;
    const response: InferenceResponse = {
      modelName: name,
      modelVersion: version,
      outputs: wanted,
      release: this.#once(),
    };
    this.#request.respond(response, false);
  }

  #finish(error: InferenceServerError | undefined): void {
    if (this.#request.isDone) return;
    this.#count(error === undefined ? 'empty' : error.code === 'CANCELLED' ? 'cancel' : 'fail');
    if (error === undefined) this.#request.respond(undefined);
    else this.#request.fail(error);
    this.#released();
  }

  #count(outcome: 'success' | 'empty' | 'fail' | 'cancel'): void {
    const computeInferNs = (this.#options.everyMicros ?? 0) * 1000;
    this.#report({ index: this.#index++, outcome, computeInferNs, computeOutputNs: 0 });
  }

  #once(): () => void {
    let isReleased = false;
    return () => {
      if (isReleased) throw new Error(`a response of request '${this.#request.id}' was released twice`);
      isReleased = true;
      this.#unreleased--;
      this.#released();
    };
  }
}

function cancelled({ id }: InferenceRequest): InferenceServerError {
  return new InferenceServerError('CANCELLED', `request '${id}' was cancelled while it ran`);
}
