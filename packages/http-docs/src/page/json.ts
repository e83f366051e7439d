/** JSON as the protocol has it: with NaN, Infinity and -Infinity as bare words, and with 64-bit integers. */

/** An integer beyond what a double holds, as it was written. */
class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const MARK = '\0';
const STRINGS_AND_WORDS = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity|Inf)\b/g;

/**
 * Integers that a double does not hold stay the text they were, where the browser tells it.
 * @throws {SyntaxError}
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, exact as Reviver);
  } catch {
    // A bare word becomes a string with a mark that no JSON text may have unescaped, and then the number.
    const marked = text.replace(STRINGS_AND_WORDS, (found) => (found.startsWith('"') ? found : `"\\u0000${found}"`));
    return JSON.parse(marked, ((key, value, context) =>
      isMarked(value) ? numberOf(value) : exact(key, value, context)) as Reviver);
  }
}

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

function exact(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const isExact = typeof value !== 'number' || !Number.isInteger(value) || Number.isSafeInteger(value);
  return isExact ? value : new ExactNumber(context?.source ?? String(value));
}

const isMarked = (value: unknown): value is string => typeof value === 'string' && value.startsWith(MARK);

const numberOf = (word: string): number => Number(word.slice(1).replace(/Inf$/, 'Infinity'));

/** A value as JSON has it; numbers with every digit. */
export function valueText(value: unknown): string {
  if (value instanceof ExactNumber) return value.text;
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? '');
}

/** @returns what is wrong with a text that should be JSON of the kind; undefined when nothing is */
export function jsonProblem(text: string, kind: 'array' | 'object'): string | undefined {
  try {
    const value = parseJson(text);
    const isKind = kind === 'array' ? Array.isArray(value) : isObject(value);
    return isKind ? undefined : `expected a JSON ${kind}`;
  } catch (thrown) {
    return `is no JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
