/** One step into a message: a field by name, then an element of a repeated field or an entry of a map. */
export type PathStep =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly text: string }
  | { readonly kind: 'key'; readonly text: string };

const STEP = /\.?([A-Za-z_]\w*)|\[(-?\d+|true|false)\]|\[("(?:[^"\\]|\\.)*")\]|\.?\[([\w.]+)\]/y;

/**
 * Reads `input[1].dims[0]`, `parameters["K"].string_value`, `[pkg.extension].name`.
 *
 * @returns undefined for what is no path
 */
export function parsePath(path: string): PathStep[] | undefined {
  const steps: PathStep[] = [];
  let at = 0;
  while (at < path.length) {
    STEP.lastIndex = at;
    const found = STEP.exec(path);
    if (found === null) return undefined;
    const step = stepOf(found);
    if (step === undefined) return undefined;
    steps.push(step);
    at = STEP.lastIndex;
  }
  return steps.length === 0 ? undefined : steps;
}

function stepOf([, name, index, key, extension]: RegExpExecArray): PathStep | undefined {
  if (name !== undefined) return { kind: 'field', name };
  if (index !== undefined) return { kind: 'index', text: index };
  if (extension !== undefined) return { kind: 'field', name: `[${extension}]` };
  const text = key === undefined ? undefined : unescaped(key);
  return text === undefined ? undefined : { kind: 'key', text };
}

/** A key is quoted as in JSON. */
function unescaped(key: string): string | undefined {
  try {
    return String(JSON.parse(key));
  } catch {
    return undefined;
  }
}
