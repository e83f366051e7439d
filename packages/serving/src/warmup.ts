import {
  type Clock,
  InferenceRequest,
  InferenceServerError,
  type Logger,
  type ModelInstance,
  type Responder,
} from '@nereid/core';
import { ServingError } from './errors.ts';
import type { WarmupSample } from './warmup-data.ts';

export interface WarmupTarget {
  readonly modelName: string;
  readonly modelVersion: string;
  readonly instance: ModelInstance;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Checks a request as one of a client, and sets its batch size. */
  accept(request: InferenceRequest): void;
}

/**
 * Runs every sample on one instance, past scheduler and statistics, and logs for each how long its first run took, which is what a client would have
 * waited without warmup, and its last, which is what clients wait from now on.
 * @throws {ServingError} INVALID_ARG `warmup-failed` at the first sample that fails, with every error of it
 */
export async function warmUp(samples: readonly WarmupSample[], target: WarmupTarget): Promise<void> {
  for (const sample of samples) {
    const first = await timedRun(sample, target);
    let last = first;
    for (let run = 1; run < sample.count; run++) last = await timedRun(sample, target);
    logRuns(target, { sample, firstRunMs: first, lastRunMs: last });
  }
}

async function timedRun(sample: WarmupSample, target: WarmupTarget): Promise<number> {
  const start = target.clock.nowMicros();
  await runSample(sample, target);
  return (target.clock.nowMicros() - start) / 1000;
}

function logRuns(
  { modelName, modelVersion, instance, logger }: WarmupTarget,
  { sample, ...times }: { readonly sample: WarmupSample; readonly firstRunMs: number; readonly lastRunMs: number },
): void {
  const { name, batchSize, count } = sample;
  const model = { model: modelName, version: modelVersion, instance: instance.name };
  const last = count > 1 ? `, run ${count} ${times.lastRunMs.toFixed(3)} ms` : '';
  logger.info(
    { ...model, sample: name, batchSize, runs: count, ...times },
    `warmup of '${modelName}' version ${modelVersion} on instance '${instance.name}': sample '${name}' with batch size ${batchSize}: ` +
      `first run ${times.firstRunMs.toFixed(3)} ms${last}`,
  );
}

async function runSample(sample: WarmupSample, target: WarmupTarget): Promise<void> {
  const answers: Promise<InferenceServerError | undefined>[] = [];
  const requests = Array.from({ length: sample.batchSize }, () => {
    const { request, answer } = makeRequest(sample, target);
    answers.push(answer);
    return request;
  });
  try {
    for (const request of requests) target.accept(request);
    await target.instance.execute(requests);
  } catch (thrown) {
    throw failure(sample, [InferenceServerError.from(thrown)]);
  }
  const errors = (await Promise.all(answers)).filter((error) => error !== undefined);
  if (errors.length > 0) throw failure(sample, errors);
}

function makeRequest(
  { inputs }: WarmupSample,
  { modelName, modelVersion }: WarmupTarget,
): { request: InferenceRequest; answer: Promise<InferenceServerError | undefined> } {
  const { promise: answer, responder } = awaitAnswer();
  const init = { modelName, modelVersion, id: '', inputs, requestedOutputs: [] };
  return { request: new InferenceRequest(init, responder), answer };
}

/** Resolves with the final answer: undefined for success. */
function awaitAnswer(): { promise: Promise<InferenceServerError | undefined>; responder: Responder } {
  let settle: (error: InferenceServerError | undefined) => void = () => {};
  const promise = new Promise<InferenceServerError | undefined>((resolve) => {
    settle = resolve;
  });
  const responder: Responder = {
    respond(_request, response, final) {
      response?.release?.();
      if (final) settle(undefined);
    },
    fail(_request, error) {
      settle(error);
    },
  };
  return { promise, responder };
}

function failure(sample: WarmupSample, errors: readonly InferenceServerError[]): ServingError {
  const messages = errors.map((error) => error.message).join('; ');
  return new ServingError('warmup-failed', `failed to run warmup sample '${sample.name}': ${messages}`, {
    cause: errors[0],
  });
}
