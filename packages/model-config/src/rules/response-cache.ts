import type { Check } from './rule.ts';

const cachedSequence: Check = function* ({ config, model }) {
  if (!config.responseCache?.enable || !config.sequenceBatching) return;
  const message = `Response Cache does not currently support model ${model} with 'sequence_batching': its responses depend on earlier requests; remove 'response_cache'`;
  yield { path: 'response_cache', message };
};

const cachedDecoupled: Check = function* ({ config, model }) {
  if (!config.responseCache?.enable || !config.modelTransactionPolicy?.decoupled) return;
  const message = `Response Cache does not currently support model ${model} with 'decoupled' transaction policy; remove 'response_cache'`;
  yield { path: 'response_cache', message };
};

/** Rules on what may be cached. */
export const RESPONSE_CACHE_RULES = {
  'cached-sequence': cachedSequence,
  'cached-decoupled': cachedDecoupled,
} satisfies Record<string, Check>;
