/** Bytes of a region of shared memory that a client registered. */
export interface SharedMemoryPart {
  /** Name that the region was registered under. */
  readonly region: string;
  /** Bytes from the beginning of the region. Not yet compared with its size. */
  readonly offset: number;
  readonly byteSize: number;
}

/** Tensors of one request that lie in shared memory instead of its message, by their names. */
export interface SharedMemoryTensors {
  /** Where inputs are read; such an input has no data of its own. */
  readonly inputs: ReadonlyMap<string, SharedMemoryPart>;
  /** Where outputs are written; the answer tells their shapes alone. */
  readonly outputs: ReadonlyMap<string, SharedMemoryPart>;
}
