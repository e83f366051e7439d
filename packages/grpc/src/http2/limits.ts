import type { AllowanceOptions } from './allowance.ts';

/** What one connection may cost. */
export interface Http2Limits {
  /** Calls at a time. Beyond it a call is refused in a way that tells the client it may try again. Default 4096. */
  readonly maxConcurrentCalls: number;
  /** Headers of a call, as HTTP/2 counts them: 32 bytes a field beside its name and value. Beyond it RESOURCE_EXHAUSTED. Default 64 KiB. */
  readonly maxMetadataBytes: number;
  /** What a client may send on one call before some of it is read. Default 8 MiB. */
  readonly callWindowBytes: number;
  /** The same for all calls together; HTTP/2 has no less than 65 535. Default 16 MiB. */
  readonly connectionWindowBytes: number;
  /** Longest frame that is taken. Default 1 MiB. */
  readonly maxFrameBytes: number;
  /** Calls that a client may make and take back, or break. Beyond it the connection ends with ENHANCE_YOUR_CALM. Default 1000 at once, 100 a second. */
  readonly resets: AllowanceOptions;
  /** Frames that ask for nothing of a call: pings, settings, priorities, empty data. Beyond it as for `resets`. Default 1000 at once, 100 a second. */
  readonly idleFrames: AllowanceOptions;
  /** Answers to such frames that may wait for a client that does not read, in bytes. Beyond it the connection ends. Default 64 KiB. */
  readonly maxControlBytes: number;
  /** Milliseconds in which a connection must have begun as one of HTTP/2. Default 10 000. */
  readonly beginTimeoutMs: number;
}

export const DEFAULT_HTTP2_LIMITS: Http2Limits = {
  maxConcurrentCalls: 4096,
  maxMetadataBytes: 64 * 1024,
  callWindowBytes: 8 * 1024 * 1024,
  connectionWindowBytes: 16 * 1024 * 1024,
  maxFrameBytes: 1024 * 1024,
  resets: { burst: 1000, perSecond: 100 },
  idleFrames: { burst: 1000, perSecond: 100 },
  maxControlBytes: 64 * 1024,
  beginTimeoutMs: 10_000,
};
