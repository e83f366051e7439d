/** Bounds on what is read from a file; beyond one of them inspection stops with reason `limit`. */
export interface ArchiveLimits {
  /** Members of the archive; each takes some hundred bytes of memory. Default 100 000. */
  readonly maxMembers?: number;
  /** Bytes of one member that is read, uncompressed. Weights are never read. Default 67 108 864. */
  readonly maxMemberBytes?: number;
}

export const DEFAULT_LIMITS: Required<ArchiveLimits> = { maxMembers: 100_000, maxMemberBytes: 64 * 1024 * 1024 };
