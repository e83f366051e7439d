/** Pieces of configurations. */

export const X = 'input [ { name: "x" data_type: TYPE_FP32 dims: [ 3 ] } ]';
export const Y = 'output [ { name: "y" data_type: TYPE_FP32 dims: [ 3 ] } ]';
export const TORCH = 'backend: "pytorch" platform: "pytorch_libtorch"';
const BASE = `${TORCH} max_batch_size: 4 ${X} ${Y}`;
export const UNBATCHED = `${TORCH} ${X} ${Y}`;
export const TENSORRT = `platform: "tensorrt_plan" max_batch_size: 4 ${X} ${Y}`;

export const base = (rest: string) => `${BASE} ${rest}`;
export const dynamic = (rest: string) => base(`dynamic_batching { ${rest} }`);
export const sequence = (rest: string) => base(`sequence_batching { ${rest} }`);
export const control = (rest: string) => sequence(`control_input [ { name: "c" control [ { ${rest} } ] } ]`);
export const state = (rest: string, initial = '') =>
  sequence(`state [ { ${rest} ${initial && `initial_state [ ${initial} ]`} } ]`);
export const STATE = 'input_name: "i" output_name: "o" data_type: TYPE_FP32 dims: [ 1, -1 ]';
export const ZEROS = '{ name: "zero" data_type: TYPE_FP32 dims: [ 1, 2 ] zero_data: true }';
export const input = (rest: string) => `${TORCH} max_batch_size: 4 input [ { ${rest} } ] ${Y}`;
export const inputOf = (head: string, rest: string) =>
  `${head} max_batch_size: 4 input [ { name: "x" data_type: TYPE_FP32 ${rest} } ] ${Y}`;
export const reshape = (dims: string, shape: string) =>
  inputOf(TORCH, `dims: [ ${dims} ] reshape { shape: [ ${shape} ] }`);
export const batchInput = (rest: string) => base(`batch_input [ { target_name: "b" ${rest} } ]`);
export const batchOutput = (rest: string) => base(`batch_output [ { ${rest} } ]`);
export const group = (rest: string) => base(`instance_group [ { ${rest} } ]`);
export const warmup = (rest: string) =>
  base(`model_warmup [ { name: "w" batch_size: 1 inputs { key: "x" value { ${rest} } } } ]`);
export const metric = (rest: string) => base(`model_metrics { metric_control [ { ${rest} } ] }`);
export const FAMILY = 'metric_identifier { family: "nv_inference_first_response_histogram_ms" }';

export const step = (model: string, inputMap: string, outputMap: string) =>
  `{ model_name: "${model}" model_version: -1 ${map('input_map', inputMap)} ${map('output_map', outputMap)} }`;
const map = (name: string, entries: string) =>
  entries
    .split(' ')
    .filter((entry) => entry !== '')
    .map((entry) => entry.split('=').map((word) => `"${word}"`))
    .map(([key, value]) => `${name} { key: ${key} value: ${value} }`)
    .join(' ');
export const ensemble = (steps: readonly string[], rest = '') =>
  `platform: "ensemble" ${X} ${Y} ensemble_scheduling { step [ ${steps.join(', ')} ] } ${rest}`;
export const CHAIN = [step('a', 'in=x', 'out=t'), step('b', 'in=t', 'out=y')];
