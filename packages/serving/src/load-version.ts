/** Steps 7 to 9 of a load: backend, instances with warmup, scheduler. Everything opened is closed again when a later step fails. */
import type { LimitedInstance, RateLimiter } from '@nereid/batching';
import {
  type Backend,
  type BatchStrategy,
  type Clock,
  type ExecutionReport,
  InferenceServerError,
  type Logger,
  type ResponseReport,
} from '@nereid/core';
import { instanceSpecs, type ModelConfig } from '@nereid/model-config';
import type { ModelVersion } from '@nereid/repository';
import { type BatchStrategyOptions, openStrategy } from './batch-strategy/open.ts';
import { type Completion, completeVersion } from './complete-version.ts';
import { ServingError } from './errors.ts';
import { FirstResponseTimes, firstResponseBounds } from './first-response.ts';
import { type Labels, readLabels } from './labels.ts';
import { LatencySummaries } from './latency-summaries.ts';
import { type FinishedListener, LoadedVersion } from './loaded-version.ts';
import { closeModel, type OpenInstance, type OpenModel, openInstance } from './open-instance.ts';
import { openScheduler, type SchedulerOptions, type VersionScheduler } from './open-scheduler.ts';
import { type PlacedInstance, type PlannedInstance, placeInstances, rateLimitsOf } from './rate-limits.ts';
import { RequestCheck } from './request-check.ts';
import { withSequenceInputs } from './sequence-inputs.ts';
import { VersionStatistics } from './statistics.ts';
import type { WantedQuantile } from './targeted-quantiles.ts';
import { type WarmupSample, warmupSamples } from './warmup-data.ts';

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
  readonly batchStrategies: BatchStrategyOptions;
  /** Shared by all models; undefined without limits. */
  readonly rateLimiter: RateLimiter | undefined;
  readonly measureFirstResponses: boolean;
  /** Empty for no summaries. */
  readonly summarizeLatencies: readonly WantedQuantile[];
  readonly onFinished: FinishedListener | undefined;
}

/** One version to load. */
export interface VersionPlan {
  readonly name: string;
  readonly modelDirectory: string;
  readonly version: ModelVersion;
  /** Deduced and validated, instance groups resolved; tensors are checked with `completion` where there is one. */
  readonly config: ModelConfig;
  /** How the backend may complete the configuration; absent when it may not, or cannot. */
  readonly completion?: Completion | undefined;
}

/**
 * Opens a version until it can serve.
 * @throws {InferenceServerError} with the reason for the index; nothing stays open then
 */
export async function loadVersion(given: VersionPlan, context: LoadContext): Promise<LoadedVersion> {
  const startedMicros = context.clock.nowMicros();
  const plan = await completeVersion(given, context);
  const parts = await readParts(plan, context);
  const about = {
    name: plan.name,
    version: plan.version.version,
    modelDirectory: plan.modelDirectory,
    versionDirectory: plan.version.directory,
    config: plan.config,
    logger: context.logger,
  };
  const model = await parts.backend.load({ ...about, instances: parts.instances.map(({ spec }) => spec) });
  const opened: Opened = { model, instances: [], strategy: undefined, limited: [] };
  try {
    const instances = placeInstances(parts.instances, context.rateLimiter);
    opened.limited = instances.flatMap(({ limited }) => limited ?? []);
    opened.strategy = await openStrategy(about, context.batchStrategies);
    return await assemble({ plan, context, parts, instances, startedMicros }, opened);
  } catch (thrown) {
    for (const error of await closeModel(opened)) {
      context.logger.error({ err: error }, `cleaning up after a failed load: ${error.message}`);
    }
    throw InferenceServerError.from(thrown);
  }
}

/** What is open so far. */
interface Opened extends OpenModel {
  readonly instances: OpenInstance[];
  strategy: BatchStrategy | undefined;
  limited: readonly LimitedInstance[];
}

/** Everything that can be known, and be wrong, before the backend opens the model. */
interface Parts {
  readonly backend: Backend<ModelConfig>;
  readonly instances: readonly PlannedInstance[];
  readonly labels: Labels;
  readonly samples: readonly WarmupSample[];
  readonly check: RequestCheck;
  /** Of warmup samples. */
  readonly sampleCheck: RequestCheck;
}

async function readParts(plan: VersionPlan, context: LoadContext): Promise<Parts> {
  const { config, version } = plan;
  if (version.fault !== undefined) throw new ServingError('bad-model', version.fault);
  const place = { modelDirectory: plan.modelDirectory, maxBytes: context.maxFileBytes };
  return {
    backend: findBackend(plan, context),
    instances: planInstances(config, context.maxInstances),
    labels: await readLabels(config, place),
    samples: await warmupSamples(config, place),
    check: new RequestCheck(config),
    sampleCheck: new RequestCheck(withSequenceInputs(config)),
  };
}

/** Creates and warms the instances, which it adds to what is open one by one, and puts a scheduler before them. */
async function assemble(
  from: {
    readonly plan: VersionPlan;
    readonly context: LoadContext;
    readonly parts: Parts;
    readonly instances: readonly PlacedInstance[];
    readonly startedMicros: number;
  },
  opened: Opened,
): Promise<LoadedVersion> {
  const { plan, context, instances } = from;
  const { model, strategy } = opened;
  const { check, labels, sampleCheck, samples } = from.parts;
  const { clock, logger, onFinished } = context;
  const reports = new Reports();
  // One after another: two loads of one model at once would need twice its memory.
  for (const planned of instances) {
    const named = { modelName: plan.name, modelVersion: plan.version.version };
    const warmup = { check: sampleCheck, samples };
    await openInstance(
      {
        ...named,
        ...planned,
        ...warmup,
        model,
        clock,
        logger,
        report: reports.take,
        reportResponse: reports.takeResponse,
      },
      opened.instances,
    );
  }
  const active = opened.instances.filter(({ isPassive }) => !isPassive).map(({ instance }) => instance);
  const scheduler = openScheduler(plan.config, {
    options: { ...context.scheduler, ...rateLimitsOf(opened.instances) },
    instances: active,
    strategy,
    clock,
    logger,
  });
  reports.scheduler = scheduler;
  const { name, config, version, modelDirectory } = plan;
  const { statistics } = reports;
  const loadSeconds = (clock.nowMicros() - from.startedMicros) / 1e6;
  const firstResponses = context.measureFirstResponses
    ? new FirstResponseTimes(firstResponseBounds(plan.config, logger))
    : undefined;
  const summaries =
    context.summarizeLatencies.length === 0
      ? undefined
      : new LatencySummaries(context.summarizeLatencies, clock.nowMicros());
  const measures = { statistics, firstResponses, summaries, loadSeconds };
  const parts = { ...opened, ...measures, scheduler, check, clock, onFinished };
  return new LoadedVersion({ name, version: version.version, modelDirectory, config, labels, ...parts });
}

/** Where the execution reports of all instances of a version go. The scheduler comes later than the instances that report. */
class Reports {
  readonly statistics = new VersionStatistics();
  scheduler: VersionScheduler | undefined;
  readonly take = (execution: ExecutionReport): void => {
    this.statistics.executed(execution);
    this.scheduler?.observe(execution);
  };
  readonly takeResponse = (response: ResponseReport): void => this.statistics.responded(response);
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

function planInstances(config: ModelConfig, maxInstances: number): readonly PlannedInstance[] {
  const groups = config.instanceGroup;
  // Counted before they are listed.
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
    instanceSpecs({ ...config, instanceGroup: [group] }).map((spec) => ({
      spec,
      isPassive: group.passive,
      rateLimiter: group.rateLimiter,
    })),
  );
}
