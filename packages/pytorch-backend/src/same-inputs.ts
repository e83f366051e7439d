import type { InferenceRequest } from '@nereid/core';
import type { ModelPlan } from './model-plan.ts';
import { stateDims } from './sequence-states.ts';

/**
 * Requests in groups that can run together, in the order in which they first appear: those that carry the same optional inputs, for a run leaves an argument
 * out for all of its rows or for none, and whose sequences keep states of the same dimensions.
 */
export function groupBySameInputs(
  plan: ModelPlan,
  requests: readonly InferenceRequest[],
): readonly (readonly InferenceRequest[])[] {
  if (requests.length <= 1) return [requests];
  const optional = plan.inputs.filter(({ spec }) => spec.optional);
  const variable = (plan.states ?? []).flatMap(({ spec }, state) => (spec.output.dims?.includes(-1) ? [state] : []));
  if (optional.length === 0 && variable.length === 0) return [requests];
  const groups = new Map<string, InferenceRequest[]>();
  for (const request of requests) {
    const carried = optional.map(({ spec }) => request.inputs.some(({ name }) => name === spec.name));
    const kept = variable.map((state) => stateDims(plan, state, request.turn?.state?.held).join('x'));
    const key = [...carried, ...kept].join();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [request]);
    else group.push(request);
  }
  return [...groups.values()];
}
