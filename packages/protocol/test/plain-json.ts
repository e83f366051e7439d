/** A reader of the protocol's JSON by the plainest means, for comparison: numbers stay text, of a repeated key the first counts. */

/** A number or one of the words for numbers, as it was written. */
export class PlainNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get value(): number {
    return Number(this.text.replace(/Inf$/, 'Infinity'));
  }
}

export type PlainValue = null | boolean | string | PlainNumber | readonly PlainValue[] | PlainObject;
export type PlainObject = ReadonlyMap<string, PlainValue>;

const TOKEN =
  /[ \t\n\r]*([{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|NaN|Infinity|Inf)|true|false|null)[ \t\n\r]*/y;

/** @throws {SyntaxError} */
export function readPlain(text: string): PlainValue {
  const tokens: string[] = [];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length; ) {
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined) throw new SyntaxError('no token');
    tokens.push(token);
  }
  const queue = tokens.values();
  const value = readValue(take(queue), queue);
  if (queue.next().done !== true) throw new SyntaxError('more than one value');
  return value;
}

function take(tokens: IterableIterator<string>): string {
  const { value, done } = tokens.next();
  if (done === true) throw new SyntaxError('an end too early');
  return value;
}

function readValue(token: string, tokens: IterableIterator<string>): PlainValue {
  if (token === '{') return objectFrom(tokens);
  if (token === '[') return listFrom(tokens);
  if (token.startsWith('"')) return JSON.parse(token);
  if (token === 'null') return null;
  if (token === 'true' || token === 'false') return token === 'true';
  if (/^[}\],:]$/.test(token)) throw new SyntaxError(`'${token}' instead of a value`);
  return new PlainNumber(token);
}

function listFrom(tokens: IterableIterator<string>): readonly PlainValue[] {
  const items: PlainValue[] = [];
  let token = take(tokens);
  if (token === ']') return items;
  for (;;) {
    items.push(readValue(token, tokens));
    const next = take(tokens);
    if (next === ']') return items;
    if (next !== ',') throw new SyntaxError('no comma');
    token = take(tokens);
  }
}

function objectFrom(tokens: IterableIterator<string>): PlainObject {
  const members = new Map<string, PlainValue>();
  let token = take(tokens);
  if (token === '}') return members;
  for (;;) {
    if (!token.startsWith('"') || take(tokens) !== ':') throw new SyntaxError('no member');
    const key: string = JSON.parse(token);
    const value = readValue(take(tokens), tokens);
    if (!members.has(key)) members.set(key, value);
    const next = take(tokens);
    if (next === '}') return members;
    if (next !== ',') throw new SyntaxError('no comma');
    token = take(tokens);
  }
}
