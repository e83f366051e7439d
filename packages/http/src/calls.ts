/** Every call that runs no model: what the engine says, as a document. */
import { InferenceServerError } from '@nereid/core';
import { modelConfigToJson } from '@nereid/model-config';
import {
  encodeModelMetadata,
  encodeModelStatistics,
  encodeRepositoryIndex,
  encodeServerMetadata,
} from '@nereid/protocol';
import { type Answer, errorAnswer, healthAnswer, jsonAnswer, notFoundAnswer, pageAnswer } from './answer.ts';
import { HttpError } from './errors.ts';
import { answerLogging } from './logging-calls.ts';
import { answerMemoryCall } from './memory-calls.ts';
import { modelDocument, serverDocument } from './openapi/document.ts';
import type { HttpSettings } from './options.ts';
import { parseJson } from './parse-json.ts';
import type { InferenceRoute, Route } from './routes.ts';
import { answerTraceCall } from './trace-calls.ts';

export type CallRoute = Exclude<Route, InferenceRoute>;

const WITH_BODY: ReadonlySet<CallRoute['kind']> = new Set(['index', 'weights', 'memory-register', 'logging', 'trace']);

/** Whether the call reads the body of a POST. */
export function takesBody(route: CallRoute): boolean {
  return WITH_BODY.has(route.kind);
}

/**
 * Answers a call.
 * @param body  text of the body; '' for calls that take none
 * @throws {InferenceServerError} as the engine does, and INVALID_ARG for a bad body
 */
export function answerCall(route: CallRoute, body: string, settings: HttpSettings): Answer | Promise<Answer> {
  const { engine } = settings;
  switch (route.kind) {
    case 'live':
      return healthAnswer(engine.isLive());
    case 'ready':
      return healthAnswer(engine.isReady());
    case 'server':
      return jsonAnswer(serverMetadata(settings));
    case 'model':
      return jsonAnswer(encodeModelMetadata(engine.modelMetadata(route.name, route.version)));
    case 'openapi':
      return settings.openApi ? jsonAnswer(serverDocument(settings)) : notFoundAnswer();
    case 'docs':
      return settings.docsPage === undefined ? notFoundAnswer() : pageAnswer(settings.docsPage());
    case 'model-openapi':
      return settings.openApi
        ? jsonAnswer(modelDocument(engine.modelMetadata(route.name, route.version), route.version, settings))
        : notFoundAnswer();
    case 'model-ready':
      return engine.isModelReady(route.name, route.version)
        ? healthAnswer(true)
        : errorAnswer(400, 'Model version not ready');
    case 'config':
      return jsonAnswer(modelConfigToJson(engine.modelConfig(route.name, route.version)));
    case 'stats':
      return jsonAnswer(encodeModelStatistics(statistics(route, settings)));
    case 'all-stats':
      return jsonAnswer(encodeModelStatistics(engine.statistics()));
    case 'index':
      return jsonAnswer(encodeRepositoryIndex(index(body, settings)));
    case 'logging':
      return answerLogging(body, settings.log);
    case 'weights':
      return updateWeights(route, body, settings);
    case 'memory-status':
    case 'memory-register':
    case 'memory-unregister':
      return answerMemoryCall(route, body, settings.sharedMemory);
    case 'trace':
      return answerTraceCall(route, body, settings);
    case 'load':
    case 'unload':
      throw refuseControl(route);
    default:
      return route satisfies never;
  }
}

function serverMetadata({ serverName, serverVersion, extensions }: HttpSettings): string {
  return encodeServerMetadata({ name: serverName, version: serverVersion, extensions });
}

/** Statistics of a model that is not there are the client's fault (400), not a missing document (404): so does the original. */
function statistics(route: { readonly name: string; readonly version: string }, { engine }: HttpSettings) {
  try {
    return engine.statistics(route.name, route.version);
  } catch (thrown) {
    if (!(thrown instanceof InferenceServerError)) throw thrown;
    throw new InferenceServerError('INVALID_ARG', thrown.message, { cause: thrown });
  }
}

/** @throws {HttpError} `not-allowed` unless it was turned on; `bad-body` unless the body is an object with a `file` */
async function updateWeights(
  { name, version }: { readonly name: string; readonly version: string },
  body: string,
  { engine, allowWeightUpdates }: HttpSettings,
): Promise<Answer> {
  if (!allowWeightUpdates) {
    throw new HttpError(
      'not-allowed',
      `the weights of '${name}' are not exchanged: clients may not do that; the server allows it with --allow-weight-updates`,
    );
  }
  const request = parseJson(body);
  if (typeof request === 'object' && request !== null && 'file' in request && typeof request.file === 'string') {
    return jsonAnswer(JSON.stringify(await engine.updateWeights(name, version, { file: request.file })));
  }
  throw new HttpError('bad-body', 'the body must be {"file": "<path inside the model directory>"}');
}

function index(body: string, { engine }: HttpSettings) {
  const entries = engine.index();
  return readsReadyOnly(body) ? entries.filter((entry) => entry.state === 'READY') : entries;
}

/** @throws {HttpError} `bad-body` unless the body is empty or an object whose `ready` is absent or a boolean */
function readsReadyOnly(body: string): boolean {
  if (body === '') return false;
  const request = parseJson(body);
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw new HttpError('bad-body', 'the body of an index request must be empty or a JSON object');
  }
  if (!('ready' in request)) return false;
  if (typeof request.ready === 'boolean') return request.ready;
  throw new HttpError(
    'bad-body',
    `Unable to parse 'ready': expected a boolean, found ${JSON.stringify(request.ready)}`,
  );
}

function refuseControl({ kind, name, repository }: { kind: string; name: string; repository: string }): HttpError {
  if (repository !== '') {
    return new HttpError('unsupported', `'repository_name' specification is not supported, found '${repository}'`);
  }
  return new HttpError(
    'not-allowed',
    `explicit model load / unload is not allowed: models are loaded at start-up only, '${kind}' of '${name}' was refused`,
  );
}
