/** Loads every model of a scan. What fails is kept as the reason in the model set, logged, and reported; nothing rejects. */
import { InferenceServerError } from '@nereid/core';
import { type ModelEntry, mapLimited } from '@nereid/repository';
import { type LoadContext, loadVersion, type VersionPlan } from './load-version.ts';
import type { LoadedVersion } from './loaded-version.ts';
import type { ModelSet } from './model-set.ts';
import { type PrepareOptions, prepareModel } from './prepare-model.ts';
import { ServedModel } from './served-model.ts';

/** A model or version that is not served. */
export interface LoadFailure {
  readonly name: string;
  /** Absent when the model could not be read at all. */
  readonly version?: string;
  /** The reason, as the index shows it. */
  readonly reason: string;
}

export interface LoadAllContext extends LoadContext {
  readonly prepare: PrepareOptions;
  /** Versions that load at once. */
  readonly concurrency: number;
  /** How often a version that failed is tried again. */
  readonly retryCount: number;
  isStopping(): boolean;
}

/** Models whose files are read at once. */
const PREPARED_AT_ONCE = 8;

export async function loadAll(
  entries: readonly ModelEntry[],
  into: { readonly models: ModelSet; readonly context: LoadAllContext },
): Promise<readonly LoadFailure[]> {
  const { models, context } = into;
  const prepared = await mapLimited(entries, { limit: PREPARED_AT_ONCE, map: (entry) => prepare(entry, context) });
  const failures: LoadFailure[] = [];
  const jobs: { readonly model: ServedModel; readonly plan: VersionPlan }[] = [];
  for (const { model, plans } of prepared) {
    models.add(model);
    if (model.fault !== undefined) failures.push({ name: model.name, reason: model.fault.reason });
    for (const plan of plans) {
      model.set(plan.version.version, { state: 'LOADING' });
      jobs.push({ model, plan });
    }
  }
  const results = await mapLimited(jobs, { limit: context.concurrency, map: (job) => loadOne(job, context) });
  return [...failures, ...results.filter((failure) => failure !== undefined)];
}

/** A model with its versions to load, or with the fault that keeps it from having any. */
async function prepare(
  entry: ModelEntry,
  context: LoadAllContext,
): Promise<{ readonly model: ServedModel; readonly plans: readonly VersionPlan[] }> {
  const { logger } = context;
  if (entry.kind === 'duplicate') {
    logger.error({ model: entry.name }, `failed to load '${entry.name}': ${entry.message}`);
    return { model: new ServedModel(entry.name, { kind: 'duplicate', reason: entry.message }), plans: [] };
  }
  try {
    return { model: new ServedModel(entry.name), plans: await prepareModel(entry, context.prepare) };
  } catch (thrown) {
    const reason = reasonOf(thrown);
    logger.error({ model: entry.name, err: thrown }, `failed to load '${entry.name}': ${reason}`);
    return { model: new ServedModel(entry.name, { kind: 'poll', reason }), plans: [] };
  }
}

async function loadOne(
  job: { readonly model: ServedModel; readonly plan: VersionPlan },
  context: LoadAllContext,
): Promise<LoadFailure | undefined> {
  const { model, plan } = job;
  const { version } = plan.version;
  const { logger } = context;
  const fields = { model: model.name, version };
  try {
    model.set(version, { state: 'READY', loaded: await tryLoad(plan, context) });
    logger.info(fields, `successfully loaded '${model.name}' version ${version}`);
    return undefined;
  } catch (thrown) {
    const reason = reasonOf(thrown);
    model.set(version, { state: 'UNAVAILABLE', reason });
    const { code } = InferenceServerError.from(thrown);
    logger.error({ ...fields, err: thrown }, `failed to load '${model.name}' version ${version}: ${code}: ${reason}`);
    return { ...fields, name: model.name, version, reason };
  }
}

async function tryLoad(plan: VersionPlan, context: LoadAllContext): Promise<LoadedVersion> {
  const { logger } = context;
  const title = `${plan.name}:${plan.version.version}`;
  for (let retriesLeft = context.retryCount; ; retriesLeft--) {
    if (context.isStopping()) throw new InferenceServerError('UNAVAILABLE', 'not loaded: the server is stopping');
    logger.info({ model: plan.name, version: plan.version.version }, `loading: ${title}`);
    try {
      return await loadVersion(plan, context);
    } catch (thrown) {
      if (retriesLeft <= 0) throw thrown;
      logger.warn({ err: thrown }, `loading ${title} failed and is tried again: ${reasonOf(thrown)}`);
    }
  }
}

function reasonOf(thrown: unknown): string {
  const { code, message } = InferenceServerError.from(thrown);
  return message === '' ? `${code} without a message` : message;
}
