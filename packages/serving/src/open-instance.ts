import type { LimitedInstance } from '@nereid/batching';
import {
  type BatchStrategy,
  type Clock,
  type ExecutionReport,
  type InferenceRequest,
  InferenceServerError,
  type InstanceSpec,
  type LoadedModel,
  type Logger,
  type ModelInstance,
  type ResponseReport,
} from '@nereid/core';
import type { RequestCheck } from './request-check.ts';
import { warmUp } from './warmup.ts';
import type { WarmupSample } from './warmup-data.ts';

/** An instance that was created, with what it was created from. */
export interface OpenInstance {
  readonly instance: ModelInstance;
  readonly spec: InstanceSpec;
  /** Gets no requests from the scheduler. */
  readonly isPassive: boolean;
  /** Its place at the rate limiter, if it has one. */
  readonly limited: LimitedInstance | undefined;
}

export interface InstanceOpening {
  readonly modelName: string;
  readonly modelVersion: string;
  readonly model: LoadedModel;
  /** Of the samples. */
  readonly check: RequestCheck;
  readonly samples: readonly WarmupSample[];
  readonly spec: InstanceSpec;
  readonly isPassive: boolean;
  readonly limited: LimitedInstance | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes the report of every execution but those of warmup. */
  readonly report: (execution: ExecutionReport) => void;
  /** Takes the report of every response of a decoupled model but those of warmup. */
  readonly reportResponse: (response: ResponseReport) => void;
}

/** Creates an instance, adds it to `opened` at once, and warms it up unless it is passive. */
export async function openInstance(opening: InstanceOpening, opened: OpenInstance[]): Promise<void> {
  const { isPassive, limited, model, report, reportResponse, samples, spec } = opening;
  let isWarm = false;
  const instance = await model.createInstance({
    spec,
    report: (execution) => {
      if (isWarm) report(execution);
    },
    reportResponse: (response) => {
      if (isWarm) reportResponse(response);
    },
  });
  opened.push({ instance, spec, isPassive, limited });
  if (!isPassive) await warmUp(samples, { ...opening, instance, accept: acceptance(opening) });
  isWarm = true;
}

/** What a client's request goes through: a sample outside the model's declared ranges must not reach it either. */
function acceptance({ check, model }: InstanceOpening): (request: InferenceRequest) => void {
  return (request) => {
    request.batchSize = check.check(request);
    model.validate?.(request);
  };
}

/** What a version holds open. */
export interface OpenModel {
  readonly model: LoadedModel;
  readonly instances: readonly OpenInstance[];
  readonly strategy?: BatchStrategy | undefined;
  /** Places at the rate limiter, also of instances that were not opened. */
  readonly limited: readonly LimitedInstance[];
}

/**
 * Closes all instances at once, then model and batching strategy; what they demanded of the rate limiter is free for others. A part that fails to close does not keep the others open.
 * @returns what failed
 */
export async function closeModel(open: OpenModel): Promise<readonly InferenceServerError[]> {
  const instances = await Promise.allSettled(open.instances.map(async ({ instance }) => instance.close()));
  const last = await Promise.allSettled([(async () => open.model.close())(), (async () => open.strategy?.close?.())()]);
  for (const place of open.limited) place.close();
  return [...instances, ...last].flatMap((result) =>
    result.status === 'rejected' ? [InferenceServerError.from(result.reason)] : [],
  );
}
