export { type BatchMessage, decodeBatch, encodeBatch, type TensorPlace } from './batch-message.ts';
export { TransportError, type TransportErrorInit, type TransportErrorReason } from './errors.ts';
export { FileRegion, type RegionOptions, type SharedRegion } from './shared-region.ts';
export { type Slot, SlotAllocator } from './slot-allocator.ts';
export {
  DEFAULT_MAX_BYTES,
  type IncomingBatch,
  type IncomingTensor,
  type OutgoingBatch,
  type OutgoingTensor,
  TensorTransport,
  type TransportOptions,
} from './tensor-transport.ts';
