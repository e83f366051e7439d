import type { Call, CallHandler } from './call.ts';
import { GrpcError } from './errors.ts';
import type { Method } from './methods.ts';
import type { GrpcSettings } from './options.ts';

/** Any call with one message each way that is answered at once. */
export class UnaryMethod implements CallHandler {
  readonly #call: Call;
  readonly #method: Method;
  readonly #settings: GrpcSettings;
  #hasMessage = false;

  constructor(init: { readonly call: Call; readonly method: Method; readonly settings: GrpcSettings }) {
    this.#call = init.call;
    this.#method = init.method;
    this.#settings = init.settings;
  }

  message(bytes: Buffer): void {
    // Of a call whose answer is still being compressed.
    if (this.#hasMessage) {
      this.#call.fail(new GrpcError('bad-message', 'the call takes one message, a second one came'));
      return;
    }
    this.#hasMessage = true;
    try {
      const answer = this.#method.answer(bytes, this.#settings);
      this.#call.send({ pieces: [answer], byteLength: answer.byteLength, isCopied: true });
      this.#call.end();
    } catch (thrown) {
      this.#call.fail(thrown);
    }
  }

  halfClosed(): void {
    if (this.#hasMessage) return;
    this.#call.fail(new GrpcError('bad-message', 'the call takes one message, none came'));
  }

  cancelled(): void {}
}
