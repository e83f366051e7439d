/**
 * JSON as people write tensors: like `JSON.parse`, but integers that a number cannot hold become bigints, and NaN and Infinity are allowed.
 */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|NaN|-?Infinity/g;

/** Member of the objects that stand for such tokens while the text is parsed. */
const MARK = '\uE000number';

/** @throws {SyntaxError} as `JSON.parse` does */
export function parseJson(text: string): unknown {
  const marked = text.replace(TOKENS, (token) => (needsMark(token) ? `{"${MARK}":"${token}"}` : token));
  return marked === text ? JSON.parse(text) : JSON.parse(marked, unmark);
}

function needsMark(token: string): boolean {
  if (token.startsWith('"')) return false;
  return (
    token.includes('N') || token.includes('I') || (/^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)))
  );
}

function unmark(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(MARK in value)) return value;
  const token = String(value[MARK]);
  return /^-?\d/.test(token) ? BigInt(token) : Number(token);
}
