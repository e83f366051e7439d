import type { InferenceRequest, InferenceResponse, InferenceServerError, Responder } from '@nereid/core';

/** What a request was answered with; `error` and `response` are never both set. */
export interface Answer {
  readonly request: InferenceRequest;
  /** Undefined for an error and for a final mark that comes alone. */
  readonly response: InferenceResponse | undefined;
  readonly error: InferenceServerError | undefined;
  readonly final: boolean;
}

/**
 * Keeps every answer of the requests it was given to, in the order they came. One responder may serve any number of requests.
 * It never calls `release`: that is the test's to do.
 */
export class RecordingResponder implements Responder {
  readonly #answers: Answer[] = [];
  readonly #waiting = new Map<InferenceRequest, ((answer: Answer) => void)[]>();

  /** Every answer so far. */
  get answers(): readonly Answer[] {
    return this.#answers;
  }

  /** Answers of one request so far. */
  answersOf(request: InferenceRequest): readonly Answer[] {
    return this.#answers.filter((answer) => answer.request === request);
  }

  /** The answer that ends the request, once it comes. An error is an answer too: this promise never rejects. */
  finalOf(request: InferenceRequest): Promise<Answer> {
    const last = this.#answers.find((answer) => answer.request === request && answer.final);
    if (last !== undefined) return Promise.resolve(last);
    return new Promise((resolve) => {
      this.#waiting.set(request, [...(this.#waiting.get(request) ?? []), resolve]);
    });
  }

  /**
   * The response that ends the request, once it comes.
   * @throws {InferenceServerError} what the request failed with
   * @throws {Error} when the final mark came alone
   */
  async responseOf(request: InferenceRequest): Promise<InferenceResponse> {
    const { response, error } = await this.finalOf(request);
    if (error !== undefined) throw error;
    if (response === undefined) throw new Error(`request '${request.id}' ended without a response`);
    return response;
  }

  respond(request: InferenceRequest, response: InferenceResponse | undefined, final: boolean): void {
    this.#record({ request, response, error: undefined, final });
  }

  fail(request: InferenceRequest, error: InferenceServerError): void {
    this.#record({ request, response: undefined, error, final: true });
  }

  #record(answer: Answer): void {
    this.#answers.push(answer);
    if (!answer.final) return;
    for (const resolve of this.#waiting.get(answer.request) ?? []) resolve(answer);
    this.#waiting.delete(answer.request);
  }
}
