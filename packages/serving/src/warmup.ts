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
  readonly instance: ModelInstance;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Checks a request as one of a client, and sets its batch size. */
  accept(request: InferenceRequest): void;
}

/**
 * Runs every sample on one instance, past scheduler and statistics, and logs how long the first run of each batch size took: what a client would have
 * waited without warmup.
 * @throws {ServingError} INVALID_ARG `warmup-failed` at the first sample that fails, with every error of it
 */
export async function warmUp(samples: readonly WarmupSample[], target: WarmupTarget): Promise<void> {
  const sizes = new Set<number>();
  for (const sample of samples) {
    for (let run = 0; run < sample.count; run++) {
      const start = target.clock.nowMicros();
      await runSample(sample, target);
      if (sizes.has(sample.batchSize)) continue;
      sizes.add(sample.batchSize);
      logFirst(target, { batchSize: sample.batchSize, micros: target.clock.nowMicros() - start });
    }
  }
}

function logFirst(
  { modelName, instance, logger }: WarmupTarget,
  { batchSize, micros }: { readonly batchSize: number; readonly micros: number },
): void {
  const fields = { model: modelName, instance: instance.name, batchSize, firstRunMicros: micros };
  const took = `${(micros / 1000).toFixed(3)} ms`;
  logger.info(
    fields,
    `warmup of '${modelName}': the first run with batch size ${batchSize} on instance '${instance.name}' took ${took}`,
  );
}

async function runSample(sample: WarmupSample, target: WarmupTarget): Promise<void> {
  const answers: Promise<InferenceServerError | undefined>[] = [];
  const requests = Array.from({ length: sample.batchSize }, () => {
    const { request, answer } = makeRequest(sample, target.modelName);
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
  sample: WarmupSample,
  modelName: string,
): { request: InferenceRequest; answer: Promise<InferenceServerError | undefined> } {
  const { promise: answer, responder } = awaitAnswer();
  const init = { modelName, modelVersion: '', id: '', inputs: sample.inputs, requestedOutputs: [] };
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
