import type { AnswerGate, InferenceRequest, RequestAnswer } from '@nereid/core';

/**
 * Lets answers leave in the order in which their requests were added: those of the first open request at once, those of later ones when everything
 * before them is answered finally.
 */
export class AnswerOrder {
  #first: Place | undefined;
  #last: Place | undefined;

  /** Gives the request the last place. To be called before it runs. */
  add(request: InferenceRequest): void {
    const place = new Place(this, request);
    request.gate = place;
    if (this.#last === undefined || this.#first === undefined) this.#first = place;
    else this.#last.next = place;
    this.#last = place;
  }

  /** Delivers what may leave, from the first place on. */
  flush(): void {
    for (let place = this.#first; place !== undefined; place = this.#first) {
      const answer = place.held.shift();
      if (answer === undefined) return;
      // Before the delivery, as that may lead to further answers.
      if (answer.error !== undefined || answer.final) this.#first = place.next;
      place.request.deliver(answer);
    }
  }
}

/** The place of one request, with its answers that cannot leave yet. */
class Place implements AnswerGate {
  readonly request: InferenceRequest;
  readonly held: RequestAnswer[] = [];
  next: Place | undefined;
  readonly #order: AnswerOrder;

  constructor(order: AnswerOrder, request: InferenceRequest) {
    this.#order = order;
    this.request = request;
  }

  take(_: InferenceRequest, answer: RequestAnswer): void {
    this.held.push(answer);
    this.#order.flush();
  }
}
