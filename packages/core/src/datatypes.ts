/**
 * The tensor datatypes of the v2 protocol in one table.
 *
 * `byteSize` is bytes per element; BYTES has 0 because its elements carry their own length.
 * `configName` and `configNumber` are the spelling and enum number in a model configuration.
 * `array` is the typed array that views the raw little-endian bytes; FP16 and BF16 are seen as their 16-bit patterns.
 * Source: triton common `protobuf/model_config.proto` (DataType) and the v2 inference protocol.
 */
export const DATATYPES = {
  BOOL: { configName: 'TYPE_BOOL', configNumber: 1, byteSize: 1, array: Uint8Array },
  UINT8: { configName: 'TYPE_UINT8', configNumber: 2, byteSize: 1, array: Uint8Array },
  UINT16: { configName: 'TYPE_UINT16', configNumber: 3, byteSize: 2, array: Uint16Array },
  UINT32: { configName: 'TYPE_UINT32', configNumber: 4, byteSize: 4, array: Uint32Array },
  UINT64: { configName: 'TYPE_UINT64', configNumber: 5, byteSize: 8, array: BigUint64Array },
  INT8: { configName: 'TYPE_INT8', configNumber: 6, byteSize: 1, array: Int8Array },
  INT16: { configName: 'TYPE_INT16', configNumber: 7, byteSize: 2, array: Int16Array },
  INT32: { configName: 'TYPE_INT32', configNumber: 8, byteSize: 4, array: Int32Array },
  INT64: { configName: 'TYPE_INT64', configNumber: 9, byteSize: 8, array: BigInt64Array },
  FP16: { configName: 'TYPE_FP16', configNumber: 10, byteSize: 2, array: Uint16Array },
  FP32: { configName: 'TYPE_FP32', configNumber: 11, byteSize: 4, array: Float32Array },
  FP64: { configName: 'TYPE_FP64', configNumber: 12, byteSize: 8, array: Float64Array },
  BYTES: { configName: 'TYPE_STRING', configNumber: 13, byteSize: 0, array: Uint8Array },
  BF16: { configName: 'TYPE_BF16', configNumber: 14, byteSize: 2, array: Uint16Array },
} as const;

/** Wire name of a datatype, as clients spell it: `FP32`, `BYTES` … */
export type Datatype = keyof typeof DATATYPES;

/** Spelling of a datatype in a model configuration: `TYPE_FP32`, `TYPE_STRING` … */
export type ConfigDatatype = (typeof DATATYPES)[Datatype]['configName'];

/** Typed array that views the elements of a datatype, e.g. `Float32Array` for FP32. */
export type TypedArrayOf<D extends Datatype> = InstanceType<(typeof DATATYPES)[D]['array']>;

const BY_CONFIG_NAME = new Map<string, Datatype>(
  Object.keys(DATATYPES)
    .filter(isDatatype)
    .map((name) => [DATATYPES[name].configName, name]),
);

/** Whether `name` is the wire name of a datatype; exact spelling. */
export function isDatatype(name: string): name is Datatype {
  return Object.hasOwn(DATATYPES, name);
}

/** Wire name for a configuration spelling; `undefined` for TYPE_INVALID and unknown names. */
export function datatypeFromConfig(configName: string): Datatype | undefined {
  return BY_CONFIG_NAME.get(configName);
}

/** Configuration spelling of a wire name: `BYTES` → `TYPE_STRING`. */
export function datatypeToConfig(datatype: Datatype): ConfigDatatype {
  return DATATYPES[datatype].configName;
}
