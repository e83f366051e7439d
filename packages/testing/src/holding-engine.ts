import type { InferenceRequest } from '@nereid/core';

/** Keeps the inference requests of an engine for a test to answer; everything else goes to the engine. */
export class HoldingEngine {
  /** Requests that wait for the test, oldest first. */
  readonly held: InferenceRequest[] = [];
  readonly cancelled: InferenceRequest[] = [];
  readonly #arrivals: (() => void)[] = [];

  wrap = <Engine extends object>(engine: Engine): Engine =>
    new Proxy(engine, {
      get: (target, key) => {
        if (key === 'infer') return this.#hold;
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });

  #hold = (request: InferenceRequest): void => {
    request.onCancel = () => {
      this.cancelled.push(request);
      this.#wake();
    };
    this.held.push(request);
    this.#wake();
  };

  #wake(): void {
    for (const arrived of this.#arrivals.splice(0)) arrived();
  }

  /** Waits until `condition` holds; looks again at every arrival and cancellation. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#arrivals.push(resolve));
  }

  async next(): Promise<InferenceRequest> {
    await this.until(() => this.held.length > 0);
    const request = this.held.shift();
    if (request === undefined) throw new Error('nothing is held');
    return request;
  }
}
