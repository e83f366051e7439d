import { GrpcError } from './errors.ts';
import type { GrpcSettings } from './options.ts';
import { messageType } from './schema.ts';

/** A message as protobufjs takes and gives it: fields in lowerCamelCase, those at their default left out. */
export type Plain = Readonly<Record<string, unknown>>;

/** What answers one method. */
export type Answer = (request: Plain, settings: GrpcSettings) => Plain;

/** A field of type string; '' when it is left out. */
export function text(request: Plain, field: string): string {
  const value = request[field];
  return typeof value === 'string' ? value : '';
}

export const nameOf = (request: Plain) => text(request, 'name');

/**
 * Reads a message of a call that runs no model, on the event loop: hence the limit.
 * @throws {GrpcError} `too-large`; `bad-message` for bytes that are no such message
 */
export function readPlain(type: string, bytes: Uint8Array, maxBytes: number): Plain {
  if (bytes.length > maxBytes)
    throw new GrpcError('too-large', `the message has ${bytes.length} bytes, more than the limit of ${maxBytes}`);
  try {
    return { ...messageType(type).decode(bytes) };
  } catch (thrown) {
    throw new GrpcError('bad-message', `the message is no ${type}: ${String(thrown)}`, { cause: thrown });
  }
}
