/** JSON of a server that may be any server. */

/** @returns undefined when it is no JSON */
export function parseDocument(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @returns the members of an object or array; undefined for anything else */
export function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}
