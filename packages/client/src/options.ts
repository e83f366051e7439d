/** How calls are repeated; see the table in the README for which ones are. */
export interface RetryOptions {
  /** How often a call is sent at most, the first time included. Default 3; 1 repeats nothing. */
  readonly attempts: number;
  /** Wait before the second attempt, in milliseconds; doubled before each further one, and varied by half. Default 100. */
  readonly baseDelayMs: number;
  /** Longest wait, where the server names none. Default 2000. */
  readonly maxDelayMs: number;
}

const DEFAULT_RETRY: RetryOptions = { attempts: 3, baseDelayMs: 100, maxDelayMs: 2000 };

const DEFAULT_TIMEOUT_MS = 60_000;

/** What any call takes. What is left out is as the client's options say. */
export interface CallOptions {
  /**
   * Deadline for the whole of the call, attempts and waits between them included, in milliseconds; 0 for none. Default 60 000. Streams have none unless the
   * call itself names one.
   */
  readonly timeoutMs?: number | undefined;
  /** Aborting it ends the call: the server learns of it, and the call fails with `cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** Headers, over gRPC metadata, in addition to those of the client. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly retry?: Partial<RetryOptions> | undefined;
}

/** Compressions of bodies and messages. */
export type Compression = 'gzip' | 'deflate';

/** What clients of both protocols take. */
export interface ClientOptions {
  /** Deadline of calls in milliseconds, 0 for none. Default 60 000. */
  readonly timeoutMs?: number | undefined;
  /** Sent with every call, such as the key of a restricted API. Over gRPC: metadata. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly retry?: Partial<RetryOptions> | undefined;
  /** Compresses what inferences send. Default: none. */
  readonly requestCompression?: Compression | undefined;
}

/** The options of a call with those of its client. */
export interface CallSettings {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly retry: RetryOptions;
}

export function settingsOf(client: ClientOptions, call: CallOptions): CallSettings {
  return {
    timeoutMs: call.timeoutMs ?? client.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    signal: call.signal,
    headers: { ...client.headers, ...call.headers },
    retry: { ...DEFAULT_RETRY, ...client.retry, ...call.retry },
  };
}
