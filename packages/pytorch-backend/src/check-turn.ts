/** Checks of what a request's turn in its sequence brings to the model. */
import type { InferenceRequest } from '@nereid/core';
import { checkDeclared } from '@nereid/model-archive';
import { checkTensor, findControl, rowsOf } from './check-inputs.ts';
import { PyTorchBackendError } from './errors.ts';
import { type ModelPlan, type PlannedInput, withBatch } from './model-plan.ts';
import { stateDims } from './sequence-states.ts';

/**
 * @throws {PyTorchBackendError} `request`: a control that is missing or of another form; more than one row with a state; a state that has grown beyond what
 *   a package was compiled for
 */
export function checkTurn(plan: ModelPlan, request: InferenceRequest): void {
  const rows = rowsOf(plan, request);
  if (plan.states !== undefined && request.turn !== undefined && rows !== 1) {
    throw turnError(plan, 'INVALID_ARG', `a request of a sequence must have batch size 1, got ${rows}`);
  }
  for (const input of plan.inputs) {
    const { source } = input.spec;
    if (source?.type === 'control') checkControl(plan, { input, request, rows });
    if (source?.type === 'state') checkState(plan, { input, request, rows, state: source.state });
  }
}

interface TurnCheck {
  readonly input: PlannedInput;
  readonly request: InferenceRequest;
  readonly rows: number;
}

function checkControl(plan: ModelPlan, { input, request, rows }: TurnCheck): void {
  const { name } = input.spec;
  const tensor = findControl(request, name);
  if (tensor === undefined) {
    throw turnError(plan, 'INTERNAL', `control tensor '${name}' did not come with the request; its scheduler makes it`);
  }
  checkTensor({ plan, input, tensor, rows });
}

function checkState(plan: ModelPlan, check: TurnCheck & { readonly state: number }): void {
  const { input, request, rows, state } = check;
  if (input.declared === undefined || request.turn === undefined) return;
  const { name, datatype } = input.spec;
  const shape = withBatch(plan, rows, stateDims(plan, state, request.turn.state?.held));
  const problem = checkDeclared(input.declared, { name, datatype, shape });
  if (problem !== undefined) throw turnError(plan, 'INVALID_ARG', `state ${problem}`);
}

function turnError({ modelName }: ModelPlan, code: 'INVALID_ARG' | 'INTERNAL', message: string): PyTorchBackendError {
  return new PyTorchBackendError({ code, reason: 'request', message: `model '${modelName}': ${message}` });
}
