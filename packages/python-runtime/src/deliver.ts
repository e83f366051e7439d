import type { InferenceRequest, InferenceResponse, InferenceServerError, Logger } from '@nereid/core';

/** An answer to a request; a response of `undefined` ends it without outputs. */
export type Delivery =
  | { readonly error: InferenceServerError }
  | { readonly error?: never; readonly response: InferenceResponse | undefined; readonly isFinal: boolean };

/** Answers a request. A listener that throws must not keep the other requests of the batch from their answers. */
export function deliver(
  request: InferenceRequest,
  answer: Delivery,
  log: { readonly logger: Logger; readonly instance: string },
): void {
  try {
    if (answer.error === undefined) request.respond(answer.response, answer.isFinal);
    else request.fail(answer.error);
  } catch (thrown) {
    log.logger.error({ instance: log.instance, request: request.id, err: thrown }, 'a listener of an answer failed');
  }
}
