/** The call about settings of traces: without new values it reads, else it changes what it names. */
import { InferenceServerError, type TraceSettingChanges } from '@nereid/core';
import { GrpcError } from './errors.ts';
import type { GrpcSettings } from './options.ts';
import { type Plain, text } from './plain-message.ts';

/** @throws {GrpcError} `not-allowed` without a tracer; {InferenceServerError} as the tracer does, INVALID_ARG for an unknown model */
export function answerTraceSetting(request: Plain, { tracer, engine }: GrpcSettings): Plain {
  if (tracer === undefined) throw new GrpcError('not-allowed', 'this server makes no traces');
  const model = text(request, 'modelName');
  if (model !== '') assertServed(model, engine);
  const changes = changesOf(request.settings);
  const values = changes.size === 0 ? tracer.settings(model) : tracer.update(changes, model);
  const settings = Object.entries(values).map(([name, value]) => [name, { value: [value].flat() }]);
  return { settings: Object.fromEntries(settings) };
}

/** A model that is not there is the client's fault, not a missing resource: so does the original. */
function assertServed(model: string, engine: GrpcSettings['engine']): void {
  try {
    engine.modelMetadata(model);
  } catch (thrown) {
    if (!(thrown instanceof InferenceServerError)) throw thrown;
    throw new InferenceServerError('INVALID_ARG', thrown.message, { cause: thrown });
  }
}

/** A setting without values goes back to what holds without it. */
function changesOf(settings: unknown): TraceSettingChanges {
  return new Map(Object.entries(settings ?? {}).map(([name, setting]) => [name, textsOf(setting)]));
}

function textsOf(setting: unknown): readonly string[] {
  if (typeof setting !== 'object' || setting === null || !('value' in setting) || !Array.isArray(setting.value))
    return [];
  return setting.value.filter((text) => typeof text === 'string');
}
