import type { GrpcSettings } from './options.ts';

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
