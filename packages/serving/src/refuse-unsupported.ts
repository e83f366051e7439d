/** What a configuration may ask for and this engine does not do: refused, or said once as a warning where leaving it out is safe. */
import type { ModelConfig } from '@nereid/model-config';
import { ServingError } from './errors.ts';

type Rule = (config: ModelConfig) => string | undefined;

const REFUSALS: readonly Rule[] = [ensemble, sequenceBatching, decoupled, repositoryAgents, batchTensors];
const WARNINGS: readonly Rule[] = [dynamicBatching, responseCache];

/** @throws {ServingError} UNSUPPORTED `unsupported`, with every feature that the model cannot do without */
export function refuseUnsupported(config: ModelConfig): void {
  const refused = applyRules(REFUSALS, config);
  if (refused.length > 0) throw new ServingError('unsupported', refused.join('; '));
}

/** Sentences on what is left out without harm to the results. */
export function unsupportedWarnings(config: ModelConfig): readonly string[] {
  return applyRules(WARNINGS, config);
}

function applyRules(rules: readonly Rule[], config: ModelConfig): readonly string[] {
  return rules.map((rule) => rule(config)).filter((sentence) => sentence !== undefined);
}

function ensemble({ platform, ensembleScheduling, name }: ModelConfig): string | undefined {
  if (platform !== 'ensemble' && ensembleScheduling === undefined) return undefined;
  return `model '${name}' is an ensemble, which is not supported; let clients call its member models one after another`;
}

function sequenceBatching({ sequenceBatching: batching, name }: ModelConfig): string | undefined {
  if (batching === undefined) return undefined;
  return `model '${name}' has sequence_batching, which is not supported; remove it and pass the state as inputs and outputs`;
}

function decoupled({ modelTransactionPolicy: policy, name }: ModelConfig): string | undefined {
  if (policy?.decoupled !== true) return undefined;
  return `model '${name}' has a decoupled model_transaction_policy, which is not supported; remove it if each request gets one response`;
}

function repositoryAgents({ modelRepositoryAgents: agents, name }: ModelConfig): string | undefined {
  if (agents === undefined || agents.agents.length === 0) return undefined;
  const names = agents.agents.map((agent) => `'${agent.name}'`).join(', ');
  return `model '${name}' has model_repository_agents (${names}), which are not supported; remove them if the model is complete without`;
}

function batchTensors({ batchInput, batchOutput, name }: ModelConfig): string | undefined {
  if (batchInput.length === 0 && batchOutput.length === 0) return undefined;
  return `model '${name}' has batch_input or batch_output, which are not supported; let clients send these tensors`;
}

function dynamicBatching({ dynamicBatching: batching, name }: ModelConfig): string | undefined {
  if (batching === undefined) return undefined;
  return `model '${name}': dynamic_batching is not supported; each request runs as a batch of its own, and queue policies have no effect`;
}

function responseCache({ responseCache: cache, name }: ModelConfig): string | undefined {
  if (cache?.enable !== true) return undefined;
  return `model '${name}': response_cache is not supported; every request runs the model`;
}
