/** Calls about settings of traces: what holds, and how that changes. */
import { InferenceServerError, type TraceSettingChanges } from '@nereid/core';
import { type Answer, jsonAnswer } from './answer.ts';
import { HttpError } from './errors.ts';
import type { HttpSettings } from './options.ts';
import { parseJson } from './parse-json.ts';
import type { TraceRoute } from './routes.ts';

/**
 * Answers a call.
 * @param body  '' to read, else an object of new values
 * @throws {HttpError} `not-allowed` without a tracer, `bad-body` for a body of another form; {InferenceServerError} as the tracer does, INVALID_ARG for an unknown model
 */
export function answerTraceCall({ model }: TraceRoute, body: string, { tracer, engine }: HttpSettings): Answer {
  if (tracer === undefined) throw new HttpError('not-allowed', 'this server makes no traces');
  if (model !== '') assertServed(model, engine);
  const values = body === '' ? tracer.settings(model) : tracer.update(changesOf(parseJson(body)), model);
  return jsonAnswer(JSON.stringify(values));
}

/** A model that is not there is the client's fault (400), not a missing document (404): so does the original. */
function assertServed(model: string, engine: HttpSettings['engine']): void {
  try {
    engine.modelMetadata(model);
  } catch (thrown) {
    if (!(thrown instanceof InferenceServerError)) throw thrown;
    throw new InferenceServerError('INVALID_ARG', thrown.message, { cause: thrown });
  }
}

function changesOf(request: unknown): TraceSettingChanges {
  if (typeof request !== 'object' || request === null || Array.isArray(request))
    throw new HttpError('bad-body', 'the body must be a JSON object of trace settings');
  return new Map(Object.entries(request).map(([name, value]) => [name, textsOf(name, value)]));
}

function textsOf(name: string, value: unknown): readonly string[] | null {
  if (value === null) return null;
  if (typeof value === 'string') return [value];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  const found = JSON.stringify(value);
  throw new HttpError('bad-body', `Unable to parse '${name}': expected a string, strings or null, found ${found}`);
}
