/** Sequences on real models: the configuration of a model that takes them, and their requests step by step. */
import type { InferenceRequest } from '@nereid/core';
import { tensor, valuesOf } from '@nereid/testing';
import type { RealRepository } from './real-engine.ts';

/** Text of a control input; `values` is `fp32_false_true: [ 0, 1 ]` by default. */
export function control(name: string, kind: string, values = 'fp32_false_true: [ 0, 1 ]'): string {
  return `{ name: "${name}" control [ { kind: CONTROL_SEQUENCE_${kind} ${values} } ] }`;
}

export interface StateText {
  /** `TYPE_FP32` by default. */
  readonly type?: string;
  /** `1` by default. */
  readonly dims?: string;
  /** The text of its initial state without name and datatype; zeros by default, none for strings. */
  readonly initial?: string;
}

/** Text of a state. */
export function state(input: string, output: string, init: StateText = {}): string {
  const {
    type = 'TYPE_FP32',
    dims = '1',
    initial = type === 'TYPE_STRING' ? '' : 'dims: [ 1 ] zero_data: true',
  } = init;
  const tensors = `input_name: "${input}" output_name: "${output}" data_type: ${type} dims: [ ${dims} ]`;
  return `{ ${tensors} ${initial === '' ? '' : `initial_state { name: "initial" data_type: ${type} ${initial} }`} }`;
}

/** Text of `sequence_batching`. A sequence may be idle for as long as a test that waits for a busy machine. */
export function sequences(controls: readonly string[], states: readonly string[], strategy = ''): string {
  const controlInput = controls.length > 0 ? `control_input [ ${controls.join(', ')} ]` : '';
  const stateText = states.length > 0 ? `state [ ${states.join(', ')} ]` : '';
  return `sequence_batching { max_sequence_idle_microseconds: 30000000 ${strategy} ${controlInput} ${stateText} }`;
}

/** One request of a sequence of the model 'm': one row of one value. */
export interface Step {
  readonly id: number | bigint | string;
  readonly value: number;
  readonly start?: boolean;
  readonly end?: boolean;
}

/** The steps of one sequence: flags at its ends. */
export function whole(id: Step['id'], values: readonly number[]): readonly Step[] {
  return values.map((value, i) => ({ id, value, start: i === 0, end: i === values.length - 1 }));
}

/** Sends the step, its value under the name of the model's first input. */
export function send(served: RealRepository, step: Step, requestedOutputs: readonly string[] = []): InferenceRequest {
  const { id: correlationId, value, start: sequenceStart = false, end: sequenceEnd = false } = step;
  const name = served.engine.modelConfig('m').input[0]?.name ?? '';
  const inputs = [tensor({ name, shape: [1, 1], values: [value] })];
  return served.send({ modelName: 'm', correlationId, sequenceStart, sequenceEnd, inputs, requestedOutputs });
}

/** First element of the first output, once it comes. */
export async function resultOf(served: RealRepository, request: InferenceRequest): Promise<unknown> {
  const { outputs } = await served.responder.responseOf(request);
  return outputs[0] && valuesOf(outputs[0])[0];
}

/** Results of the steps, which are sent together. */
export function run(served: RealRepository, ...steps: readonly Step[]): Promise<unknown[]> {
  const requests = steps.map((step) => send(served, step));
  return Promise.all(requests.map((request) => resultOf(served, request)));
}

/** Results of the steps, of which each is sent when the one before is answered. */
export async function runInTurn(served: RealRepository, ...steps: readonly Step[]): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const step of steps) results.push(...(await run(served, step)));
  return results;
}
