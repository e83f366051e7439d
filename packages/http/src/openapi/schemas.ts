/** JSON Schemas of the bodies, as far as they are the same for every model. */
import { DATATYPES } from '@nereid/core';

export type Schema = Readonly<Record<string, unknown>>;

const STRING = { type: 'string' } as const;
const BOOLEAN = { type: 'boolean' } as const;
const UNSIGNED = { type: 'integer', minimum: 0 } as const;
const STRINGS = { type: 'array', items: STRING } as const;

/** What a parameter may be. */
export const SCALAR: Schema = { type: ['string', 'number', 'boolean'] };

export const ref = (name: SchemaName): Schema => ({ $ref: `#/components/schemas/${name}` });

const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = [], rest: Schema = {}) => ({
  type: 'object',
  ...(required.length > 0 && { required }),
  properties,
  ...rest,
});

/** Nested arrays of values, or a flat one. */
const nested = (name: string, value: Schema): Schema => ({
  type: 'array',
  items: { anyOf: [value, { $ref: `#/components/schemas/${name}` }] },
});

const SHARED_MEMORY = {
  shared_memory_region: { ...STRING, description: 'The tensor lies in this registered region.' },
  shared_memory_offset: { ...UNSIGNED, description: 'Bytes into the region.' },
  shared_memory_byte_size: UNSIGNED,
};

export const INPUT_PARAMETERS: Schema = object(
  {
    binary_data_size: {
      ...UNSIGNED,
      description: 'The tensor is that many bytes behind the JSON, in place of `data`.',
    },
    ...SHARED_MEMORY,
  },
  [],
  { additionalProperties: SCALAR },
);

const OUTPUT_PARAMETERS: Schema = object(
  {
    binary_data: { ...BOOLEAN, description: 'Send this output as bytes behind the JSON.' },
    classification: { ...UNSIGNED, description: 'Send that many classes of greatest value, in place of the output.' },
    ...SHARED_MEMORY,
  },
  [],
  { additionalProperties: SCALAR },
);

export const REQUEST_PARAMETERS: Schema = object(
  {
    sequence_id: { type: ['integer', 'string'], description: 'The sequence that the request belongs to.' },
    sequence_start: BOOLEAN,
    sequence_end: BOOLEAN,
    priority: { ...UNSIGNED, description: '1 is the highest; 0 takes the default of the model.' },
    timeout: { ...UNSIGNED, description: 'Microseconds that the request may wait.' },
    binary_data_output: { ...BOOLEAN, description: 'Send outputs that are not listed as bytes behind the JSON.' },
    nereid_batch: { ...BOOLEAN, description: 'Tell in the answer which batch the request ran in.' },
  },
  [],
  { additionalProperties: SCALAR, description: 'Others are given to the model; names must not begin with `triton_`.' },
);

const DURATION = object({ count: UNSIGNED, ns: { ...UNSIGNED, description: 'Nanoseconds, summed.' } }, ['count', 'ns']);

const durations = (...names: readonly string[]) =>
  object(Object.fromEntries(names.map((name) => [name, DURATION])), names);

const COMPUTE = ['compute_input', 'compute_infer', 'compute_output'] as const;

const STATISTICS_ENTRY = object(
  {
    name: STRING,
    version: STRING,
    last_inference: { ...UNSIGNED, description: 'Milliseconds since the epoch; 0 before the first.' },
    inference_count: { ...UNSIGNED, description: 'Rows that were computed.' },
    execution_count: { ...UNSIGNED, description: 'Batches that were computed.' },
    inference_stats: durations('success', 'fail', 'queue', ...COMPUTE, 'cache_hit', 'cache_miss'),
    response_stats: {
      type: 'object',
      description: 'Responses of a decoupled model by their position.',
      additionalProperties: durations('compute_infer', 'compute_output', 'success', 'fail', 'empty_response', 'cancel'),
    },
    batch_stats: {
      type: 'array',
      items: object({ batch_size: UNSIGNED, ...Object.fromEntries(COMPUTE.map((name) => [name, DURATION])) }, [
        'batch_size',
        ...COMPUTE,
      ]),
    },
    memory_usage: { type: 'array', items: {}, maxItems: 0 },
    batching: object({
      batch_sizes: { type: 'array', items: object({ batch_size: UNSIGNED, count: UNSIGNED }) },
      closed: { type: 'object', additionalProperties: UNSIGNED, description: 'Batches by why they were closed.' },
    }),
  },
  [
    'name',
    'version',
    'last_inference',
    'inference_count',
    'execution_count',
    'inference_stats',
    'response_stats',
    'batch_stats',
    'memory_usage',
  ],
);

const DATATYPE = { type: 'string', enum: Object.keys(DATATYPES) };
const SHAPE = { type: 'array', items: UNSIGNED };
const TENSOR_METADATA = object(
  {
    name: STRING,
    datatype: DATATYPE,
    shape: {
      type: 'array',
      items: { type: 'integer', minimum: -1 },
      description: '-1 stands for a variable dimension.',
    },
  },
  ['name', 'datatype', 'shape'],
);

const LOG_SETTINGS = {
  log_file: STRING,
  log_info: BOOLEAN,
  log_warning: BOOLEAN,
  log_error: BOOLEAN,
  log_verbose_level: UNSIGNED,
  log_format: { ...STRING, examples: ['default', 'ISO8601'] },
};

const TRACE_SETTING_NAMES = ['trace_rate', 'trace_count', 'log_frequency', 'trace_file', 'trace_mode'] as const;

export const SCHEMAS = {
  Error: object({ error: STRING }, ['error']),
  ServerMetadata: object({ name: STRING, version: STRING, extensions: STRINGS }, ['name', 'version', 'extensions']),
  ModelMetadata: object(
    {
      name: STRING,
      versions: STRINGS,
      platform: STRING,
      inputs: { type: 'array', items: TENSOR_METADATA },
      outputs: { type: 'array', items: TENSOR_METADATA },
    },
    ['name', 'versions', 'platform', 'inputs', 'outputs'],
  ),
  ModelConfig: object({ name: STRING, platform: STRING, backend: STRING, max_batch_size: UNSIGNED }, ['name'], {
    description: "Every field of Triton's `ModelConfig`, under its proto name.",
    additionalProperties: true,
  }),
  ModelStatistics: object({ model_stats: { type: 'array', items: STATISTICS_ENTRY } }, ['model_stats']),
  NumberData: nested('NumberData', { type: 'number' }),
  IntegerData: nested('IntegerData', { type: 'integer' }),
  BooleanData: nested('BooleanData', BOOLEAN),
  StringData: nested('StringData', STRING),
  TensorData: nested('TensorData', SCALAR),
  InferRequest: object(
    {
      id: STRING,
      parameters: REQUEST_PARAMETERS,
      inputs: {
        type: 'array',
        items: object(
          {
            name: STRING,
            datatype: DATATYPE,
            shape: SHAPE,
            parameters: INPUT_PARAMETERS,
            data: { $ref: '#/components/schemas/TensorData' },
          },
          ['name', 'datatype', 'shape'],
        ),
      },
      outputs: {
        type: 'array',
        description: 'Outputs that are wanted; every output when it is left out.',
        items: object({ name: STRING, parameters: OUTPUT_PARAMETERS }, ['name']),
      },
    },
    ['inputs'],
  ),
  InferResponse: object(
    {
      id: STRING,
      model_name: STRING,
      model_version: STRING,
      parameters: { type: 'object', additionalProperties: SCALAR },
      outputs: {
        type: 'array',
        items: object(
          {
            name: STRING,
            datatype: DATATYPE,
            shape: SHAPE,
            parameters: { type: 'object', additionalProperties: SCALAR },
            data: { $ref: '#/components/schemas/TensorData' },
          },
          ['name', 'datatype', 'shape'],
        ),
      },
    },
    ['model_name', 'model_version', 'outputs'],
  ),
  GenerateRequest: object({ id: STRING, parameters: { type: 'object', additionalProperties: true } }, [], {
    additionalProperties: { anyOf: [SCALAR, { type: 'array', items: SCALAR }] },
  }),
  GenerateResponse: object({ model_name: STRING, model_version: STRING }, ['model_name', 'model_version'], {
    additionalProperties: { anyOf: [SCALAR, { type: 'array', items: SCALAR }] },
  }),
  RepositoryIndex: {
    type: 'array',
    items: object({ name: STRING, version: STRING, state: STRING, reason: STRING }, ['name']),
  },
  WeightsReport: object({ updated: STRINGS, kept: STRINGS, ignored: STRINGS }, ['updated', 'kept', 'ignored']),
  LogSettings: object(LOG_SETTINGS),
  TraceSettings: object(
    {
      trace_level: STRINGS,
      ...Object.fromEntries(TRACE_SETTING_NAMES.map((name) => [name, STRING])),
    },
    [],
    { additionalProperties: true },
  ),
  TraceSettingChanges: { type: 'object', additionalProperties: { type: ['string', 'array', 'null'], items: STRING } },
  MemoryRegions: {
    type: 'array',
    items: object({ name: STRING, key: STRING, offset: UNSIGNED, byte_size: UNSIGNED }, [
      'name',
      'key',
      'offset',
      'byte_size',
    ]),
  },
  MemoryRegistration: object(
    {
      key: { ...STRING, description: 'Name of the POSIX object: `/` and a word.' },
      offset: { ...UNSIGNED, default: 0, description: 'Bytes into the object.' },
      byte_size: UNSIGNED,
    },
    ['key', 'byte_size'],
  ),
  OpenApiDocument: { type: 'object', required: ['openapi', 'info', 'paths'] },
} as const;

export type SchemaName = keyof typeof SCHEMAS;
