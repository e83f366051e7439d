/** Reads class and method heads of the Python-like source in a TorchScript archive. */
import type { TorchScriptArgument } from './types.ts';

export interface ClassSource {
  /** Base class as written: `Module`, `NamedTuple` … */
  readonly base: string;
  /** Lines of the class without its head. */
  readonly body: string;
}

export interface MethodSignature {
  readonly arguments: readonly TorchScriptArgument[];
  readonly returnType: string;
}

/** The class `name` of a source file. */
export function findClass(source: string, name: string): ClassSource | undefined {
  for (const match of source.matchAll(/^class (\w+)(?:\((\w*)\))?:$/gm)) {
    if (match[1] !== name) continue;
    const rest = source.slice(match.index + match[0].length);
    const end = rest.search(/^\S/m);
    return { base: match[2] ?? '', body: end === -1 ? rest : rest.slice(0, end) };
  }
  return undefined;
}

/** Names of the methods that a class defines. */
export function methodNames({ body }: ClassSource): string[] {
  return [...body.matchAll(/^ {2}def (\w+)\(/gm)].map((match) => match[1] ?? '');
}

/** Types of a named tuple's fields, in order. */
export function fieldTypes({ body }: ClassSource): string[] {
  return [...body.matchAll(/^ {2}\w+ : (.+)$/gm)].map((match) => match[1] ?? '');
}

/** The signature of a method, without self. */
export function findMethod({ body }: ClassSource, name: string): MethodSignature | undefined {
  const head = `  def ${name}(`;
  const start = body.startsWith(head) ? 0 : body.indexOf(`\n${head}`) + 1;
  if (!body.startsWith(head, start)) return undefined;
  const [parameters = '', rest = ''] = splitAtClosing(body.slice(start + head.length));
  const returnType = /^\s*->\s*([^:]+(?::[^\n:]+)*?):\s*$/m.exec(rest)?.[1] ?? 'NoneType';
  return {
    arguments: splitTopLevel(parameters, ',').slice(1).map(readArgument),
    returnType: returnType.replace(/\s+/g, ' ').trim(),
  };
}

/** Types inside `Tuple[…]`; undefined for another type. */
export function tupleElements(type: string): string[] | undefined {
  const inner = /^Tuple\[(.*)\]$/s.exec(type)?.[1];
  if (inner === undefined) return undefined;
  return inner === '()' ? [] : splitTopLevel(inner, ',');
}

function readArgument(text: string): TorchScriptArgument {
  const [declaration = '', value] = splitTopLevel(text, '=');
  const colon = declaration.indexOf(':');
  const name = declaration.slice(0, colon).trim();
  const type = declaration
    .slice(colon + 1)
    .replace(/\s+/g, ' ')
    .trim();
  return value === undefined ? { name, type } : { name, type, default: value };
}

/** Splits after the bracket that closes the one before the text. */
function splitAtClosing(text: string): [string, string] {
  const end = scan(text, (character, depth) => character === ')' && depth === 0);
  return [text.slice(0, end), text.slice(end + 1)];
}

function splitTopLevel(text: string, separator: string): string[] {
  const parts: string[] = [];
  let rest = text;
  for (;;) {
    const end = scan(rest, (character, depth) => character === separator && depth === 0);
    const part = rest.slice(0, end).trim();
    if (part !== '') parts.push(part);
    if (end >= rest.length) return parts;
    rest = rest.slice(end + 1);
  }
}

/** Index of the first character outside of strings that `stop` accepts; the length of the text when there is none. */
function scan(text: string, stop: (character: string, depth: number) => boolean): number {
  let depth = 0;
  let quote: string | undefined;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    if (quote !== undefined) {
      if (character === '\\') index++;
      else if (character === quote) quote = undefined;
    } else if (stop(character, depth)) return index;
    else if (character === '"' || character === "'") quote = character;
    else if ('([{'.includes(character)) depth++;
    else if (')]}'.includes(character)) depth--;
  }
  return text.length;
}
