import type { InferenceRequest } from '@nereid/core';
import type { ModelPlan } from './model-plan.ts';

/**
 * Requests in groups that carry the same optional inputs, in the order in which they first appear: a run leaves an argument out for all of its rows or
 * for none.
 */
export function groupBySameInputs(
  plan: ModelPlan,
  requests: readonly InferenceRequest[],
): readonly (readonly InferenceRequest[])[] {
  if (requests.length <= 1) return [requests];
  const optional = plan.inputs.filter(({ spec }) => spec.optional);
  if (optional.length === 0) return [requests];
  const groups = new Map<string, InferenceRequest[]>();
  for (const request of requests) {
    const carried = optional.map(({ spec }) => request.inputs.some(({ name }) => name === spec.name)).join();
    const group = groups.get(carried);
    if (group === undefined) groups.set(carried, [request]);
    else group.push(request);
  }
  return [...groups.values()];
}
