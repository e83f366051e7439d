/** Limits of a parse, and the name of the file for messages. */
export interface PbtxtOptions {
  /** Name of the file, put before `line:column` where an error message quotes diagnostics. Default: none. */
  readonly file?: string;
  /**
   * Deepest nesting of messages that is parsed; a deeper one is one `too-deep` diagnostic and its content is passed over.
   * It bounds the stack. Default 100. At most 1000, and for `parseMessage` at most protobufjs's `util.recursionLimit`,
   * which also bounds encoding.
   */
  readonly maxDepth?: number;
  /** Longest text that is parsed, in bytes of UTF-8; a longer one is one `too-large` diagnostic. Default 4 MiB. */
  readonly maxBytes?: number;
  /**
   * Most diagnostics that are listed; when there are more, a last one with reason `too-many-problems` says so. It keeps
   * the time for hostile text linear. Default 1000.
   */
  readonly maxDiagnostics?: number;
}

/** `PbtxtOptions` with every limit filled in. */
export interface Limits {
  readonly maxDepth: number;
  readonly maxBytes: number;
  readonly maxDiagnostics: number;
}

/** Beyond this the recursive descent could exhaust the default stack of Node. */
const DEEPEST = 1000;

/** Fills in the defaults. */
export function limitsOf(options: PbtxtOptions): Limits {
  return {
    maxDepth: Math.min(options.maxDepth ?? 100, DEEPEST),
    maxBytes: options.maxBytes ?? 4 * 1024 * 1024,
    maxDiagnostics: options.maxDiagnostics ?? 1000,
  };
}
