import type { ExecutionReport, InferenceRequest, InstanceSpec, LoadedModel, ModelInstance } from '@nereid/core';
import type { RequestCheck } from './request-check.ts';
import { warmUp } from './warmup.ts';
import type { WarmupSample } from './warmup-data.ts';

/** An instance that was created, with what it was created from. */
export interface OpenInstance {
  readonly instance: ModelInstance;
  readonly spec: InstanceSpec;
  /** Gets no requests from the scheduler. */
  readonly isPassive: boolean;
}

export interface InstanceOpening {
  readonly modelName: string;
  readonly model: LoadedModel;
  readonly check: RequestCheck;
  readonly samples: readonly WarmupSample[];
  readonly spec: InstanceSpec;
  readonly isPassive: boolean;
  /** Takes the report of every execution but those of warmup. */
  readonly report: (execution: ExecutionReport) => void;
}

/** Creates an instance, adds it to `opened` at once, and warms it up unless it is passive. */
export async function openInstance(opening: InstanceOpening, opened: OpenInstance[]): Promise<void> {
  const { isPassive, model, modelName, report, samples, spec } = opening;
  let isWarm = false;
  const instance = await model.createInstance({
    spec,
    report: (execution) => {
      if (isWarm) report(execution);
    },
  });
  opened.push({ instance, spec, isPassive });
  if (!isPassive) await warmUp(samples, { modelName, instance, accept: acceptance(opening) });
  isWarm = true;
}

/** What a client's request goes through: a sample outside the model's declared ranges must not reach it either. */
function acceptance({ check, model }: InstanceOpening): (request: InferenceRequest) => void {
  return (request) => {
    request.batchSize = check.check(request);
    model.validate?.(request);
  };
}
