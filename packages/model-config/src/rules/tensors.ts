import { formatShape } from '@nereid/core';
import type { ModelConfig, ModelInput, ModelOutput } from '../generated/types.ts';
import { reshapeFault } from './reshape.ts';
import { type Check, repeats } from './rule.ts';

/** A declared input or output. */
interface PlacedTensor {
  readonly tensor: ModelInput | ModelOutput;
  readonly path: string;
  /** Head of every message, e.g. `model input 'x'`. */
  readonly subject: string;
}

/** Makes a rule of a check on one tensor; what it yields is put between `model input 'x' ` and ` for <model>`. */
function eachTensor(check: (placed: PlacedTensor, config: ModelConfig) => Iterable<TensorFault>): Check {
  return function* ({ config, model }) {
    for (const placed of tensors(config)) {
      for (const { at, fault, detail } of check(placed, config)) {
        const message = `${placed.subject} ${fault} for ${model}${detail === undefined ? '' : `: ${detail}`}`;
        yield { path: `${placed.path}${at ?? ''}`, message };
      }
    }
  };
}

interface TensorFault {
  /** Path below the tensor, e.g. `.dims[0]`; the tensor itself when left out. */
  readonly at?: string;
  readonly fault: string;
  readonly detail?: string;
}

function* tensors(config: ModelConfig): Iterable<PlacedTensor> {
  for (const kind of ['input', 'output'] as const) {
    for (const [i, tensor] of config[kind].entries()) {
      const subject = tensor.name === '' ? `model ${kind}` : `model ${kind} '${tensor.name}'`;
      yield { tensor, path: `${kind}[${i}]`, subject };
    }
  }
}

const tensorName = eachTensor(function* ({ tensor, path }) {
  if (tensor.name === '') yield { fault: `must specify 'name'`, detail: `${path} has none` };
});

const tensorType = eachTensor(function* ({ tensor }) {
  if (tensor.dataType === 'TYPE_INVALID')
    yield { fault: `must specify 'data_type'`, detail: 'e.g. data_type: TYPE_FP32' };
});

const tensorDims = eachTensor(function* ({ tensor }, config) {
  if (tensor.dims.length > 0) return;
  const remedy = config.maxBatchSize > 0 ? 'dims: [ 1 ] and reshape { }' : 'dims: [ 1 ] and reshape { shape: [ 1 ] }';
  yield {
    fault: `must specify 'dims'`,
    detail: `list the dimensions without the batch dimension, -1 for a variable one; for one value per item write ${remedy}`,
  };
});

const dimension = eachTensor(function* ({ tensor }) {
  for (const [i, dim] of tensor.dims.entries()) {
    if (dim >= 1 || dim === -1) continue;
    yield {
      at: `.dims[${i}]`,
      fault: 'dimension must be integer >= 1, or -1 to indicate a variable-size dimension',
      detail: `got ${dim}`,
    };
  }
});

const reshapeDimension = eachTensor(function* ({ tensor }) {
  for (const [i, dim] of (tensor.reshape?.shape ?? []).entries()) {
    if (dim >= 1 || dim === -1) continue;
    const fault = 'reshape dimensions must be integer >= 1, or -1 to indicate a variable-size dimension';
    yield { at: `.reshape.shape[${i}]`, fault, detail: `got ${dim}` };
  }
});

const emptyReshape = eachTensor(function* ({ tensor }, config) {
  if (tensor.reshape?.shape.length !== 0 || config.maxBatchSize > 0) return;
  const detail = `without a batch dimension no dimension would be left; write the shape, or set 'max_batch_size'`;
  yield { at: '.reshape', fault: 'cannot have empty reshape for non-batching model', detail };
});

const reshapeSize = eachTensor(function* ({ tensor }) {
  const fault = tensor.reshape && reshapeFault(tensor.dims, tensor.reshape.shape);
  if (!fault) return;
  const detail = `dims are ${formatShape(tensor.dims)}, reshape is ${formatShape(tensor.reshape.shape)}`;
  yield { at: '.reshape', fault, detail };
});

const imageFormat = eachTensor(function* ({ tensor }) {
  if (!('format' in tensor) || tensor.format === 'FORMAT_NONE' || tensor.dims.length === 3) return;
  const detail = `got ${formatShape(tensor.dims)}; leave the batch dimension out, or remove 'format'`;
  yield { at: '.format', fault: 'NHWC/NCHW require 3 dims', detail };
});

const shapeTensor = eachTensor(function* ({ tensor }, config) {
  if (!tensor.isShapeTensor || isTensorRt(config)) return;
  yield {
    at: '.is_shape_tensor',
    fault: 'shape tensors are only supported for TensorRT models',
    detail: `remove 'is_shape_tensor'`,
  };
});

const nonLinearFormat = eachTensor(function* ({ tensor }, config) {
  if (!tensor.isNonLinearFormatIo) return;
  const at = '.is_non_linear_format_io';
  if (!isTensorRt(config)) {
    yield {
      at,
      fault: 'Non-linear IO format is only supported for TensorRT models',
      detail: `remove 'is_non_linear_format_io'`,
    };
  } else if (tensor.dims.length !== 3) {
    yield { at, fault: 'Non-linear IO format requires 3 dims', detail: `got ${formatShape(tensor.dims)}` };
  }
});

function isTensorRt({ platform, backend }: ModelConfig): boolean {
  return platform === 'tensorrt_plan' || backend === 'tensorrt';
}

/** Not checked by Triton: a request could not say which of the two it means. */
const repeatedName: Check = function* ({ config, model }) {
  for (const kind of ['input', 'output'] as const) {
    for (const [name, i] of repeats(config[kind].map((tensor) => tensor.name))) {
      if (name === '') continue;
      const message = `model ${kind} '${name}' is declared twice for ${model}; each ${kind} needs a name of its own`;
      yield { path: `${kind}[${i}].name`, message };
    }
  }
};

/** Left to the backend by Triton. */
const pytorchOutput: Check = function* ({ config, model }) {
  if (config.backend !== 'pytorch' || config.output.length > 0) return;
  const message = `model configuration must contain at least one output, none were specified for model '${model}'; add output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ -1 ] } ]`;
  yield { path: 'output', message };
};

/** Rules on inputs and outputs. */
export const TENSOR_RULES = {
  'tensor-name': tensorName,
  'tensor-data-type': tensorType,
  'tensor-dims': tensorDims,
  'tensor-dimension': dimension,
  'reshape-dimension': reshapeDimension,
  'empty-reshape': emptyReshape,
  'reshape-size': reshapeSize,
  'image-format': imageFormat,
  'shape-tensor': shapeTensor,
  'non-linear-format': nonLinearFormat,
  'repeated-tensor-name': repeatedName,
  'output-missing': pytorchOutput,
} satisfies Record<string, Check>;
