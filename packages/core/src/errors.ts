/** The eight status codes a caller can act on. Source: Triton's TRITONSERVER_Error_Code. */
export type ErrorCode =
  | 'UNKNOWN'
  | 'INTERNAL'
  | 'NOT_FOUND'
  | 'INVALID_ARG'
  | 'UNAVAILABLE'
  | 'UNSUPPORTED'
  | 'ALREADY_EXISTS'
  | 'CANCELLED';

const BRAND = Symbol.for('@nereid/core/InferenceServerError');

/**
 * Base of every error that Nereid throws on purpose. Match on `code` (or on a subclass's `reason`), never on the message.
 *
 * `instanceof` holds across several installed copies of this package: the class is branded with a registered symbol.
 */
export class InferenceServerError extends Error {
  override readonly name: string = 'InferenceServerError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static {
    Object.defineProperty(InferenceServerError.prototype, BRAND, { value: true });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // A subclass keeps the ordinary prototype test: only the base is shared between copies.
    if (this !== InferenceServerError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && BRAND in value;
  }

  /**
   * Turns whatever was thrown into an `InferenceServerError`; one that already is comes back unchanged.
   * Anything else becomes INTERNAL with the stranger as `cause`.
   */
  static from(thrown: unknown): InferenceServerError {
    if (thrown instanceof InferenceServerError) return thrown;
    const message = thrown instanceof Error ? thrown.message : typeof thrown === 'string' ? thrown : shown(thrown);
    return new InferenceServerError('INTERNAL', message, { cause: thrown });
  }
}

/** A thrown value that is neither an error nor a text, as a message shows it. */
function shown(value: unknown): string {
  if (typeof value !== 'object') return String(value);
  try {
    return JSON.stringify(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
