/** Every call with one message each way but inference: what the engine says, as messages. */
import { InferenceServerError } from '@nereid/core';
import { modelConfigToMessage, modelConfigType } from '@nereid/model-config';
import type { ModelMetadata, ModelStatistics, TensorMetadata } from '@nereid/serving';
import { GrpcError } from './errors.ts';
import { answerLogSettings } from './log-method.ts';
import { MEMORY_ANSWERS } from './memory-methods.ts';
import type { GrpcSettings } from './options.ts';
import { type Answer, nameOf, type Plain, readPlain, text } from './plain-message.ts';
import { messageType } from './schema.ts';
import { answerTraceSetting } from './trace-method.ts';

export interface Method {
  /**
   * Answers a call.
   * @param body  the request message
   * @returns the response message
   * @throws {InferenceServerError} as the engine does; `too-large`, `bad-message` for bytes that are not the request message
   */
  answer(body: Uint8Array, settings: GrpcSettings): Uint8Array;
}

const SERVING = 1;
const NOT_SERVING = 2;

const ANSWERS: Readonly<Record<string, Answer>> = {
  ServerLive: (_, { engine }) => ({ live: engine.isLive() }),
  ServerReady: (_, { engine }) => ({ ready: engine.isReady() }),
  ServerMetadata: (_, { serverName, serverVersion, extensions }) => ({
    name: serverName,
    version: serverVersion,
    extensions,
  }),
  ModelReady: (request, { engine }) => {
    const version = versionOf(request);
    return { ready: engine.isModelReady(nameOf(request), version) };
  },
  ModelMetadata: (request, { engine }) => metadata(engine.modelMetadata(nameOf(request), versionOf(request))),
  ModelConfig: (request, { engine }) => ({
    config: modelConfigType()
      .encode(modelConfigToMessage(engine.modelConfig(nameOf(request), versionOf(request))))
      .finish(),
  }),
  ModelStatistics: (request, settings) => ({ modelStats: statistics(request, settings).map(statisticsRow) }),
  RepositoryIndex: (request, settings) => ({ models: index(request, settings) }),
  RepositoryModelLoad: (request) => refuseControl('load', request),
  RepositoryModelUnload: (request) => refuseControl('unload', request),
  ...MEMORY_ANSWERS,
  TraceSetting: answerTraceSetting,
  LogSettings: answerLogSettings,
};

/** Calls by path. */
export const METHODS: ReadonlyMap<string, Method> = new Map([
  ...Object.entries(ANSWERS).map(([name, answer]) => [
    `/inference.GRPCInferenceService/${name}`,
    method(`inference.${name}Request`, `inference.${name}Response`, answer),
  ]),
  [
    '/grpc.health.v1.Health/Check',
    method('grpc.health.v1.HealthCheckRequest', 'grpc.health.v1.HealthCheckResponse', (_, { engine }) => ({
      status: engine.isReady() ? SERVING : NOT_SERVING,
    })),
  ],
] as [string, Method][]);

function method(requestType: string, responseType: string, answer: Answer): Method {
  return {
    answer: (body, settings) => {
      const request = readPlain(requestType, body, settings.maxCallMessageBytes);
      return messageType(responseType).encode(answer(request, settings)).finish();
    },
  };
}

/** @throws {GrpcError} for a version that is none: over HTTP no path has it */
function versionOf(request: Plain): string {
  const version = text(request, 'version');
  if (/^\d*$/.test(version)) return version;
  throw new GrpcError('bad-parameter', `a model version is a whole number, or empty for the latest, got '${version}'`);
}

function metadata({ name, versions, platform, inputs, outputs }: ModelMetadata): Plain {
  return { name, versions, platform, inputs: inputs.map(tensor), outputs: outputs.map(tensor) };
}

const tensor = ({ name, datatype, shape }: TensorMetadata): Plain => ({ name, datatype, shape });

/** Statistics of a model that is not there are the client's fault, not a missing resource: so does the original. */
function statistics(request: Plain, { engine }: GrpcSettings): readonly ModelStatistics[] {
  try {
    const name = nameOf(request);
    return name === '' ? engine.statistics() : engine.statistics(name, versionOf(request));
  } catch (thrown) {
    if (!(thrown instanceof InferenceServerError)) throw thrown;
    throw new InferenceServerError('INVALID_ARG', thrown.message, { cause: thrown });
  }
}

function statisticsRow(row: ModelStatistics): Plain {
  const { success, fail, queue, computeInput, computeInfer, computeOutput, cacheHit, cacheMiss } = row;
  return {
    name: row.name,
    version: row.version,
    lastInference: row.lastInferenceMs,
    inferenceCount: row.inferenceCount,
    executionCount: row.executionCount,
    inferenceStats: { success, fail, queue, computeInput, computeInfer, computeOutput, cacheHit, cacheMiss },
    batchStats: row.batches,
    responseStats: Object.fromEntries(row.responses.map(({ index, ...counted }) => [String(index), counted])),
  };
}

function index(request: Plain, { engine }: GrpcSettings): readonly Plain[] {
  refuseRepository(request);
  const entries = engine.index();
  const shown = request.ready === true ? entries.filter(({ state }) => state === 'READY') : entries;
  return shown.map(({ name, version, state, reason }) => ({ name, version, state, reason }));
}

function refuseRepository(request: Plain): void {
  const repository = text(request, 'repositoryName');
  if (repository === '') return;
  throw new GrpcError('unsupported', `'repository_name' specification is not supported, found '${repository}'`);
}

function refuseControl(kind: string, request: Plain): never {
  refuseRepository(request);
  throw new GrpcError(
    'not-allowed',
    `explicit model load / unload is not allowed: models are loaded at start-up only, '${kind}' of '${text(request, 'modelName')}' was refused`,
  );
}
