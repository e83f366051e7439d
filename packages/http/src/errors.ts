import { type ErrorCode, InferenceServerError } from '@nereid/core';

/**
 * What is wrong with a request before its content is looked at, or with its answer:
 * `body-too-large` more bytes than a limit · `answer-too-large` an answer in JSON of more bytes than a limit · `too-many-chunks` a chunked body in countless tiny pieces · `unsupported-encoding` neither gzip nor
 * deflate · `bad-compression` the body does not inflate · `bad-header-length` the length header is no number · `bad-body` a JSON body of another
 * form than the call takes · `not-allowed` models are not loaded by clients · `unsupported` the server does not do that · `not-one-response` the model answered an
 * inference never or more than once · `slow-reader` more events wait for the client than may · `restricted` the
 * call takes a key that the client does not have.
 */
export type HttpErrorReason =
  | 'body-too-large'
  | 'answer-too-large'
  | 'too-many-chunks'
  | 'unsupported-encoding'
  | 'bad-compression'
  | 'bad-header-length'
  | 'bad-body'
  | 'not-allowed'
  | 'unsupported'
  | 'not-one-response'
  | 'slow-reader'
  | 'restricted';

const CODES: Record<HttpErrorReason, ErrorCode> = {
  'body-too-large': 'INVALID_ARG',
  'answer-too-large': 'INVALID_ARG',
  'too-many-chunks': 'INVALID_ARG',
  'unsupported-encoding': 'UNSUPPORTED',
  'bad-compression': 'INVALID_ARG',
  'bad-header-length': 'INVALID_ARG',
  'bad-body': 'INVALID_ARG',
  'not-allowed': 'UNAVAILABLE',
  unsupported: 'UNSUPPORTED',
  'not-one-response': 'UNSUPPORTED',
  'slow-reader': 'UNAVAILABLE',
  restricted: 'UNAVAILABLE',
};

/** A request that this front end refuses by itself. */
export class HttpError extends InferenceServerError {
  override readonly name = 'HttpError';
  readonly reason: HttpErrorReason;

  constructor(reason: HttpErrorReason, message: string, options?: ErrorOptions) {
    super(CODES[reason], message, options);
    this.reason = reason;
  }
}

/** A call that brings one answer and a model that gives none or several. */
export function notOneResponse(model: string): HttpError {
  return new HttpError(
    'not-one-response',
    `model '${model}' does not answer with exactly one response: this call doesn't support models with decoupled transaction policy; use generate_stream, or gRPC's ModelStreamInfer`,
  );
}

/** Tensors of an answer that would be written for too long. */
export function tooLargeForJson(bytes: number, limit: number): HttpError {
  return new HttpError(
    'answer-too-large',
    `the outputs that were asked for as JSON have ${bytes} bytes, more than the limit of ${limit}: request them as binary data, or raise --http-max-input-size`,
  );
}
