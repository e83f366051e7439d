/** JSON Schemas of the inference calls of one model, made from its metadata, with an example that it takes. */
import { DATATYPES, isDatatype } from '@nereid/core';
import type { ModelMetadata, TensorMetadata } from '@nereid/serving';
import { INPUT_PARAMETERS, REQUEST_PARAMETERS, ref, SCALAR, SCHEMAS, type Schema, type SchemaName } from './schemas.ts';

export interface InferenceSchemas {
  readonly InferRequest: Schema;
  readonly InferResponse: Schema;
  readonly GenerateRequest: Schema;
  readonly GenerateResponse: Schema;
  /** Bodies that the model takes; absent where one would be long, or where an input has no JSON form. */
  readonly examples: { readonly InferRequest: unknown; readonly GenerateRequest: unknown } | undefined;
}

/** Values of an example, all inputs together. */
const MAX_EXAMPLE_VALUES = 256;

/** How the values of a datatype look in JSON; undefined for those that have no JSON form. */
interface JsonForm {
  readonly value: Schema;
  readonly data: SchemaName;
  readonly example: unknown;
}

function jsonFormOf(datatype: string): JsonForm | undefined {
  switch (datatype) {
    case 'FP16':
    case 'BF16':
      return undefined;
    case 'FP32':
    case 'FP64':
      return { value: { type: 'number' }, data: 'NumberData', example: 0.5 };
    case 'BOOL':
      return { value: { type: 'boolean' }, data: 'BooleanData', example: true };
    case 'BYTES':
      return { value: { type: 'string' }, data: 'StringData', example: 'text' };
    default:
      return { value: { type: 'integer', ...rangeOf(datatype) }, data: 'IntegerData', example: 0 };
  }
}

function rangeOf(datatype: string): Schema {
  const byteSize = isDatatype(datatype) ? DATATYPES[datatype].byteSize : 0;
  // Beyond 32 bits a JSON number of most readers is not exact, and neither would be the bounds.
  if (byteSize === 0 || byteSize > 4) return {};
  const values = 2 ** (8 * byteSize);
  return datatype.startsWith('U')
    ? { minimum: 0, maximum: values - 1 }
    : { minimum: -values / 2, maximum: values / 2 - 1 };
}

/** @param model  metadata of the version that is described */
export function inferenceSchemas(model: ModelMetadata): InferenceSchemas {
  const { InferRequest, InferResponse } = SCHEMAS;
  return {
    InferRequest: {
      ...InferRequest,
      properties: {
        ...InferRequest.properties,
        inputs: {
          type: 'array',
          minItems: 1,
          items: { oneOf: model.inputs.map((input) => tensorSchema(input, true)) },
        },
        outputs: {
          ...InferRequest.properties.outputs,
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { enum: model.outputs.map(({ name }) => name) }, parameters: { type: 'object' } },
          },
        },
      },
    },
    InferResponse: {
      ...InferResponse,
      properties: {
        ...InferResponse.properties,
        model_name: { const: model.name },
        outputs: { type: 'array', items: { anyOf: model.outputs.map((output) => tensorSchema(output, false)) } },
      },
    },
    GenerateRequest: {
      type: 'object',
      properties: {
        id: { type: 'string' },
        parameters: REQUEST_PARAMETERS,
        ...Object.fromEntries(model.inputs.map((input) => [input.name, flatSchema(input)])),
      },
      additionalProperties: SCALAR,
    },
    GenerateResponse: {
      type: 'object',
      required: ['model_name', 'model_version'],
      properties: {
        model_name: { type: 'string' },
        model_version: { type: 'string' },
        ...Object.fromEntries(model.outputs.map((output) => [output.name, flatSchema(output)])),
      },
      additionalProperties: SCALAR,
    },
    examples: examplesOf(model),
  };
}

function tensorSchema({ name, datatype, shape }: TensorMetadata, isInput: boolean): Schema {
  const form = jsonFormOf(datatype);
  return {
    type: 'object',
    title: name,
    required: ['name', 'datatype', 'shape'],
    properties: {
      name: { const: name },
      datatype: { const: datatype },
      shape: shapeSchema(shape),
      parameters: isInput ? INPUT_PARAMETERS : { type: 'object' },
      ...(form !== undefined && { data: ref(form.data) }),
    },
  };
}

function shapeSchema(shape: readonly number[]): Schema {
  const dims = shape.map((dim) => (dim === -1 ? { type: 'integer', minimum: 0 } : { const: dim }));
  return {
    type: 'array',
    ...(dims.length > 0 && { prefixItems: dims }),
    items: false,
    minItems: dims.length,
    description: `[${shape.join(',')}]`,
  };
}

function flatSchema({ datatype, shape }: TensorMetadata): Schema {
  const description = `${datatype} [${shape.join(',')}]`;
  const form = jsonFormOf(datatype);
  if (form === undefined) return { not: {}, description: `${description}: has no JSON form` };
  return { anyOf: [form.value, { type: 'array', items: form.value }], description };
}

function examplesOf({ inputs }: ModelMetadata): InferenceSchemas['examples'] {
  const filled: { readonly tensor: TensorMetadata; readonly data: readonly unknown[] }[] = [];
  let values = 0;
  for (const input of inputs) {
    const form = jsonFormOf(input.datatype);
    const count = input.shape.reduce((product, dim) => product * Math.abs(dim), 1);
    values += count;
    if (form === undefined || values > MAX_EXAMPLE_VALUES) return undefined;
    filled.push({ tensor: input, data: new Array<unknown>(count).fill(form.example) });
  }
  return {
    InferRequest: {
      inputs: filled.map(({ tensor: { name, datatype, shape }, data }) => ({
        name,
        datatype,
        shape: shape.map(Math.abs),
        data,
      })),
    },
    GenerateRequest: Object.fromEntries(filled.map(({ tensor: { name }, data }) => [name, data])),
  };
}
