/** Steps 7 to 9 of a load: backend, instances with warmup, scheduler. Everything opened is closed again when a later step fails. */
import { DefaultScheduler, type DefaultSchedulerOptions } from '@nereid/batching';
import {
  type Backend,
  type Clock,
  type ExecutionReport,
  InferenceServerError,
  type InstanceSpec,
  type LoadedModel,
  type Logger,
} from '@nereid/core';
import { instanceSpecs, type ModelConfig } from '@nereid/model-config';
import type { ModelVersion } from '@nereid/repository';
import { ServingError } from './errors.ts';
import { readLabels } from './labels.ts';
import { collectErrors, LoadedVersion } from './loaded-version.ts';
import { type OpenInstance, openInstance } from './open-instance.ts';
import { RequestCheck } from './request-check.ts';
import { VersionStatistics } from './statistics.ts';
import { warmupSamples } from './warmup-data.ts';

/** How requests wait and run. */
export type SchedulerOptions = Omit<DefaultSchedulerOptions, 'instances' | 'clock'>;

/** What all loads share. */
export interface LoadContext {
  /** By name. */
  readonly backends: ReadonlyMap<string, Backend<ModelConfig>>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly scheduler: SchedulerOptions;
  /** Largest label file, warmup file and warmup tensor. */
  readonly maxFileBytes: number;
  /** Most instances of one version. */
  readonly maxInstances: number;
}

/** One version to load. */
export interface VersionPlan {
  readonly name: string;
  readonly modelDirectory: string;
  readonly version: ModelVersion;
  /** Completed and validated, instance groups resolved. */
  readonly config: ModelConfig;
}

/**
 * Opens a version until it can serve.
 * @throws {InferenceServerError} with the reason for the index; nothing stays open then
 */
export async function loadVersion(plan: VersionPlan, context: LoadContext): Promise<LoadedVersion> {
  const { config, version } = plan;
  if (version.fault !== undefined) throw new ServingError('bad-model', version.fault);
  const backend = findBackend(plan, context);
  const instances = planInstances(config, context.maxInstances);
  const place = { modelDirectory: plan.modelDirectory, maxBytes: context.maxFileBytes };
  const labels = await readLabels(config, place);
  const samples = await warmupSamples(config, place);
  const check = new RequestCheck(config);
  const model = await backend.load({
    name: plan.name,
    version: version.version,
    modelDirectory: plan.modelDirectory,
    versionDirectory: version.directory,
    config,
    instances: instances.map(({ spec }) => spec),
    logger: context.logger,
  });
  const reports = new Reports();
  const opened: OpenInstance[] = [];
  try {
    // One after another: two loads of one model at once would need twice its memory.
    for (const planned of instances) {
      await openInstance({ ...planned, modelName: plan.name, model, check, samples, report: reports.take }, opened);
    }
    const active = opened.filter(({ isPassive }) => !isPassive).map(({ instance }) => instance);
    reports.scheduler = new DefaultScheduler({ ...context.scheduler, instances: active, clock: context.clock });
    return new LoadedVersion({
      name: plan.name,
      version: version.version,
      config,
      labels,
      model,
      instances: opened,
      scheduler: reports.scheduler,
      check,
      statistics: reports.statistics,
      clock: context.clock,
    });
  } catch (thrown) {
    await closeAfterFailure({ opened, model }, context.logger);
    throw InferenceServerError.from(thrown);
  }
}

/** Where the execution reports of all instances of a version go. The scheduler comes later than the instances that report. */
class Reports {
  readonly statistics = new VersionStatistics();
  scheduler: DefaultScheduler | undefined;
  readonly take = (execution: ExecutionReport): void => {
    this.statistics.executed(execution);
    this.scheduler?.observe(execution);
  };
}

function findBackend({ config, name }: VersionPlan, { backends }: LoadContext): Backend<ModelConfig> {
  const backend = backends.get(config.backend);
  if (backend !== undefined) return backend;
  const known = [...backends.keys()].map((other) => `'${other}'`).join(', ') || 'none';
  throw new ServingError(
    'unknown-backend',
    `unable to find backend '${config.backend}' for model '${name}'; this server has: ${known}`,
  );
}

interface PlannedInstance {
  readonly spec: InstanceSpec;
  readonly isPassive: boolean;
}

function planInstances(config: ModelConfig, maxInstances: number): readonly PlannedInstance[] {
  const groups = config.instanceGroup;
  // Counted before they are listed: a count may be any 32-bit number.
  const count = groups.reduce((sum, group) => sum + group.count * Math.max(1, group.gpus.length), 0);
  if (count > maxInstances) {
    throw new ServingError(
      'bad-model',
      `the instance groups of model '${config.name}' make ${count} instances; at most ${maxInstances} are created`,
    );
  }
  if (groups.every((group) => group.passive)) {
    throw new ServingError(
      'bad-model',
      `every instance group of model '${config.name}' is passive; none would take requests`,
    );
  }
  return groups.flatMap((group) =>
    instanceSpecs({ ...config, instanceGroup: [group] }).map((spec) => ({ spec, isPassive: group.passive })),
  );
}

async function closeAfterFailure(
  open: { readonly opened: readonly OpenInstance[]; readonly model: LoadedModel },
  logger: Logger,
): Promise<void> {
  const errors = await collectErrors(
    open.opened.map(
      ({ instance }) =>
        () =>
          instance.close(),
    ),
  );
  errors.push(...(await collectErrors([() => open.model.close()])));
  for (const error of errors) logger.error({ err: error }, `cleaning up after a failed load: ${error.message}`);
}
