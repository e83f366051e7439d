import { ClientError } from '../errors.ts';
import { assertSendable, type InferRequest, type InferResult } from '../infer.ts';
import { Call, type CallInit } from './call.ts';
import { decodeStreamMessage, encodeRequest } from './infer-messages.ts';

/** What comes back on a stream: an answer of a model, or the failure of one request; the stream goes on either way. */
export type StreamAnswer =
  | { readonly id: string; readonly result: InferResult; readonly error?: undefined }
  | { readonly id: string; readonly error: ClientError; readonly result?: undefined };

/** Answers that wait for the reader; with more the server is held back. */
const MOST_WAITING = 16;

/**
 * Any number of requests, and their answers as they come. Answers of models that answer once come in the order of the requests; those of decoupled models come when they
 * are made. Iterate it once, while sending or after; leaving the loop cancels what is under way.
 */
export class InferStream implements AsyncIterable<StreamAnswer> {
  readonly #call: Call;
  readonly #waiting: StreamAnswer[] = [];
  #wake: (() => void) | undefined;
  #end: { readonly error: ClientError | undefined } | undefined;

  /** @internal */
  constructor(init: CallInit, ended: () => void) {
    this.#call = new Call(init, {
      message: (bytes) => this.#take(decodeStreamMessage(bytes)),
      ended: (error) => {
        this.#end = { error };
        ended();
        this.#wake?.();
      },
    });
  }

  /**
   * Sends a request; resolves when there is room for another. Give requests ids to tell their answers apart.
   * @throws {ClientError} `usage`; whatever ended the stream, when it has ended
   */
  async send(request: InferRequest): Promise<void> {
    assertSendable(request);
    if (this.#end?.error !== undefined) throw this.#end.error;
    await this.#call.send(encodeRequest(request));
  }

  /** There are no more requests; the answers to those that were sent still come. */
  end(): void {
    this.#call.half();
  }

  /** Cancels what is under way. */
  cancel(): void {
    this.#call.cancel();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamAnswer, void, undefined> {
    try {
      for (;;) {
        const next = this.#waiting.shift();
        if (next !== undefined) {
          if (this.#waiting.length < MOST_WAITING) this.#call.resume();
          yield next;
        } else if (this.#end !== undefined) {
          if (this.#end.error !== undefined) throw this.#end.error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      this.#call.cancel();
    }
  }

  #take({ error, result }: { readonly error: string; readonly result: InferResult }): void {
    const { id } = result;
    this.#waiting.push(error === '' ? { id, result } : { id, error: failure(error) });
    if (this.#waiting.length >= MOST_WAITING) this.#call.pause();
    this.#wake?.();
  }
}

/** In-band failures have no code. */
function failure(serverMessage: string): ClientError {
  return new ClientError({
    reason: 'refused',
    code: 'UNKNOWN',
    serverMessage,
    summary: `the server answered: ${serverMessage}`,
  });
}
