import type { DataType, ModelSequenceBatchingControl } from './generated/types.ts';

/** Data type of the tensor that carries a control: a correlation ID states its own, the others have that of their values. */
export function controlDataType({
  kind,
  dataType,
  int32FalseTrue,
  fp32FalseTrue,
}: ModelSequenceBatchingControl): DataType {
  if (kind === 'CONTROL_SEQUENCE_CORRID') return dataType;
  if (int32FalseTrue.length > 0) return 'TYPE_INT32';
  return fp32FalseTrue.length > 0 ? 'TYPE_FP32' : 'TYPE_BOOL';
}
