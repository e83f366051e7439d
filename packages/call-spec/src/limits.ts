/** Bounds on a call spec; beyond one of them parsing or naming stops with reason `limit`. */
export interface CallSpecLimits {
  /** Characters in each of the two strings, before they are parsed. Default 4 194 304. */
  readonly maxLength?: number;
  /** Containers around a leaf, counting the root; bounds the recursion. Default 64. */
  readonly maxDepth?: number;
  /** Nodes in each of the two trees. Default 65 536. */
  readonly maxNodes?: number;
  /** Characters of one forward name; bounds the memory of all names together. Default 4096. */
  readonly maxNameLength?: number;
}

export const DEFAULT_LIMITS: Required<CallSpecLimits> = {
  maxLength: 4 * 1024 * 1024,
  maxDepth: 64,
  maxNodes: 65_536,
  maxNameLength: 4096,
};
