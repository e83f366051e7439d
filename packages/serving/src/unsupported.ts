/** What a configuration may ask for and this engine does not do: refused, or said once as a warning where leaving it out is safe. */
import type { ModelConfig } from '@nereid/model-config';

export interface UnsupportedFeature {
  /** Where it stands in the configuration, e.g. `ensemble_scheduling`. */
  readonly path: string;
  /** What is not supported, and what to do. */
  readonly message: string;
}

type Rule = (config: ModelConfig) => UnsupportedFeature | undefined;

const REFUSALS: readonly Rule[] = [ensemble, repositoryAgents];
const WARNINGS: readonly Rule[] = [responseCache];

/** Features that the model cannot do without, so that it must not be loaded. */
export function refusedFeatures(config: ModelConfig): readonly UnsupportedFeature[] {
  return applyRules(REFUSALS, config);
}

/** Features that are left out without harm to the results. */
export function ignoredFeatures(config: ModelConfig): readonly UnsupportedFeature[] {
  return applyRules(WARNINGS, config);
}

function applyRules(rules: readonly Rule[], config: ModelConfig): readonly UnsupportedFeature[] {
  return rules.map((rule) => rule(config)).filter((feature) => feature !== undefined);
}

function ensemble({ platform, ensembleScheduling, name }: ModelConfig): UnsupportedFeature | undefined {
  if (platform !== 'ensemble' && ensembleScheduling === undefined) return undefined;
  const path = platform === 'ensemble' ? 'platform' : 'ensemble_scheduling';
  const message = `model '${name}' is an ensemble, which is not supported; let clients call its member models one after another`;
  return { path, message };
}

function repositoryAgents({ modelRepositoryAgents: agents, name }: ModelConfig): UnsupportedFeature | undefined {
  if (agents === undefined || agents.agents.length === 0) return undefined;
  const names = agents.agents.map((agent) => `'${agent.name}'`).join(', ');
  const message = `model '${name}' has model_repository_agents (${names}), which are not supported; remove them if the model is complete without`;
  return { path: 'model_repository_agents', message };
}

function responseCache({ responseCache: cache, name }: ModelConfig): UnsupportedFeature | undefined {
  if (cache?.enable !== true) return undefined;
  const message = `model '${name}': response_cache is not supported; every request runs the model`;
  return { path: 'response_cache.enable', message };
}
