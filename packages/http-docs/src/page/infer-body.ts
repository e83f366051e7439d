/** The body of an inference: names and shapes as JSON, values as the person wrote them. */

export interface InputValues {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  /** JSON text of an array. */
  readonly data: string;
}

/** @param parameters  JSON text of an object; '' for none */
export function inferBody(inputs: readonly InputValues[], parameters: string): string {
  const entries = inputs.map(({ data, ...head }) => `${JSON.stringify(head).slice(0, -1)},"data":${data}}`);
  const rest = parameters.trim() === '' ? '' : `"parameters":${parameters},`;
  return `{${rest}"inputs":[${entries.join(',')}]}`;
}

/** @returns what is wrong with a text that should be JSON of the kind; undefined when nothing is */
export function jsonProblem(text: string, kind: 'array' | 'object'): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isKind = kind === 'array' ? Array.isArray(value) : isObject(value);
    return isKind ? undefined : `expected a JSON ${kind}`;
  } catch (thrown) {
    return `is no JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
