import type { InferRequest, InferResult } from './infer.ts';
import type { ModelAddress } from './inference-client.ts';
import { addressOf } from './inference-client.ts';
import type { CallOptions } from './options.ts';

export interface SequenceOptions {
  /** Correlation ID. Default: a random integer, which no other sequence is likely to have. */
  readonly id?: number | bigint | string;
}

export type SequenceRequest = Omit<InferRequest, 'model' | 'version' | 'sequence'>;

export interface SequenceCallOptions extends CallOptions {
  /** Whether this is the last request of the sequence. Default false. */
  readonly last?: boolean;
}

/**
 * Requests that a stateful model sees as one sequence. They are sent one at a time, in the order of the calls, whatever the protocol: each waits for the answer to the
 * one before it. The first one that the server takes starts the sequence.
 */
export class Sequence {
  readonly id: number | bigint | string;
  readonly #client: { infer(request: InferRequest, options?: CallOptions): Promise<InferResult> };
  readonly #address: { readonly model: string; readonly version: string };
  #hasStarted = false;
  #previous: Promise<unknown> = Promise.resolve();

  constructor(
    client: { infer(request: InferRequest, options?: CallOptions): Promise<InferResult> },
    model: ModelAddress,
    options: SequenceOptions = {},
  ) {
    this.#client = client;
    this.#address = addressOf(model);
    this.id = options.id ?? randomId();
  }

  /** @throws {ClientError} as `infer` of the client does */
  infer(request: SequenceRequest, options: SequenceCallOptions = {}): Promise<InferResult> {
    const answer = this.#previous.then(() => this.#send(request, options));
    this.#previous = answer.catch(() => {});
    return answer;
  }

  async #send(request: SequenceRequest, { last = false, ...options }: SequenceCallOptions): Promise<InferResult> {
    const sequence = { id: this.id, start: !this.#hasStarted, end: last };
    const result = await this.#client.infer({ ...request, ...this.#address, sequence }, options);
    this.#hasStarted = !last;
    return result;
  }
}

/** From 1 to 2^53 − 1. */
function randomId(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 21) * 2 ** 32 + low || 1;
}
