export type { CudaRegions } from './cuda-regions.ts';
export { SharedMemoryError, type SharedMemoryErrorReason } from './errors.ts';
export type { RegionInit } from './region.ts';
export type { RegionUse } from './region-use.ts';
export { type SharedMemoryOptions, SharedMemoryRegions } from './regions.ts';
export { RequestMemory } from './request-memory.ts';
