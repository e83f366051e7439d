import { type Check, quoteList, repeats } from './rule.ts';

const batchInputSource: Check = function* ({ config, model }) {
  for (const [i, { sourceInput, kind }] of config.batchInput.entries()) {
    if (sourceInput.length === 1) continue;
    const message = `batch input ${kind} expects 1 source input, got ${sourceInput.length} for ${model}; list one declared input`;
    yield { path: `batch_input[${i}].source_input`, message };
  }
};

const batchInputType: Check = function* ({ config, model }) {
  for (const [i, { dataType }] of config.batchInput.entries()) {
    if (dataType === 'TYPE_INT32' || dataType === 'TYPE_FP32') continue;
    const message = `batch input data type must be TYPE_INT32 or TYPE_FP32 for ${model}, got ${dataType}`;
    yield { path: `batch_input[${i}].data_type`, message };
  }
};

const unknownSource: Check = function* ({ config, model }) {
  const declared = new Set(config.input.map(({ name }) => name));
  for (const [field, entries] of [
    ['batch_input', config.batchInput] as const,
    ['batch_output', config.batchOutput] as const,
  ]) {
    for (const [i, { sourceInput }] of entries.entries()) {
      for (const [j, name] of sourceInput.entries()) {
        if (declared.has(name)) continue;
        const message = `unknown source input name '${name}' in ${field} of ${model}; declared inputs are ${quoteList(declared)}`;
        yield { path: `${field}[${i}].source_input[${j}]`, message };
      }
    }
  }
};

/** Not checked by Triton: clients are then asked for a tensor that the server makes. */
const batchInputTarget: Check = function* ({ config, model }) {
  const declared = new Set(config.input.map(({ name }) => name));
  for (const [i, { targetName }] of config.batchInput.entries()) {
    const path = `batch_input[${i}].target_name`;
    if (targetName.length === 0) {
      yield {
        severity: 'warning',
        path,
        message: `batch input ${i} of ${model} has no effect: it names no target input`,
      };
    }
    for (const [j, name] of targetName.entries()) {
      if (!declared.has(name)) continue;
      const message = `batch input target '${name}' of ${model} is also listed as input: requests would have to send what the server makes; remove it from 'input'`;
      yield { severity: 'warning', path: `${path}[${j}]`, message };
    }
  }
};

const batchOutputSource: Check = function* ({ config, model }) {
  for (const [i, { sourceInput, kind }] of config.batchOutput.entries()) {
    if (sourceInput.length === 1) continue;
    const message = `batch output ${kind} expects 1 source input, got ${sourceInput.length} for ${model}; list one declared input`;
    yield { path: `batch_output[${i}].source_input`, message };
  }
};

const unknownTarget: Check = function* ({ config, model }) {
  const declared = new Set(config.output.map(({ name }) => name));
  for (const [i, { targetName }] of config.batchOutput.entries()) {
    for (const [j, name] of targetName.entries()) {
      if (declared.has(name)) continue;
      const message = `unknown target output name '${name}' in batch_output of ${model}; declared outputs are ${quoteList(declared)}`;
      yield { path: `batch_output[${i}].target_name[${j}]`, message };
    }
  }
};

const repeatedTarget: Check = function* ({ config, model }) {
  for (const [i, { targetName }] of config.batchOutput.entries()) {
    for (const [name, j] of repeats(targetName)) {
      const message = `batch output target '${name}' can only be specified once for ${model}`;
      yield { path: `batch_output[${i}].target_name[${j}]`, message };
    }
  }
};

/** Rules on tensors that the server makes for a batch or splits in a special way. */
export const BATCH_IO_RULES = {
  'batch-input-source': batchInputSource,
  'batch-input-type': batchInputType,
  'unknown-source-input': unknownSource,
  'batch-input-target': batchInputTarget,
  'batch-output-source': batchOutputSource,
  'unknown-target-output': unknownTarget,
  'repeated-target-output': repeatedTarget,
} satisfies Record<string, Check>;
