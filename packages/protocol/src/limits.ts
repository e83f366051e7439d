import { ProtocolError } from './errors.ts';

/** Bounds on what a peer may send. Whatever is beyond is refused with `limit` (depth: `bad-json`) before it costs memory. */
export interface ProtocolLimits {
  /** Bytes of the JSON header, or of the whole body when there is no binary part. Default 64 MiB. */
  readonly maxHeaderBytes: number;
  /** Bytes that one JSON tensor may take in binary form. Default 64 MiB. */
  readonly maxJsonTensorBytes: number;
  /** Bytes of the body of a raw binary request. Default 64 MiB. */
  readonly maxRawBytes: number;
  /** Nesting of arrays in `data`, and of anything else below an entry of `inputs` or `outputs`. Default 100, as the original. */
  readonly maxJsonDepth: number;
  /** JSON values of a header, tensor `data` not counted: names, dimensions, parameters. Default 65 536. */
  readonly maxJsonValues: number;
  /** Entries of `inputs`, and of `outputs`. Default 1024. */
  readonly maxTensors: number;
  /** Last sentence of the messages about byte limits: how to raise them. */
  readonly advice: string;
}

const MEBI = 1024 * 1024;

/** The limits that hold where none are given. */
export const DEFAULT_LIMITS: ProtocolLimits = {
  maxHeaderBytes: 64 * MEBI,
  maxJsonTensorBytes: 64 * MEBI,
  maxRawBytes: 64 * MEBI,
  maxJsonDepth: 100,
  maxJsonValues: 65_536,
  maxTensors: 1024,
  advice: 'Send large tensors in binary form.',
};

/** @throws {ProtocolError} `limit` when `bytes` is more than `limit` */
export function assertWithin(check: { what: string; bytes: number; limit: number; limits: ProtocolLimits }): void {
  if (check.bytes <= check.limit) return;
  throw new ProtocolError(
    'limit',
    `${check.what} has ${check.bytes} bytes, more than the limit of ${check.limit}. ${check.limits.advice}`,
  );
}
