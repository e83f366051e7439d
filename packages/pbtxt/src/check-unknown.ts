import { nearestName } from '@nereid/core';
import type { MessageScope } from './message-scope.ts';
import { quote } from './quote.ts';
import { type FieldInfo, typeInfo } from './schema.ts';
import type { Token } from './syntax.ts';
import { over } from './tree.ts';

/** Further than this indentation is not looked at, to stay linear for lines of nothing but spaces. */
const DEEPEST_INDENT = 200;

/**
 * Reports a name that the message's type does not have.
 *
 * @param token  the field's name as written
 * @returns the message around this one whose field it is, where a bracket between them was forgotten
 */
export function checkUnknownField(
  token: Token,
  scope: MessageScope,
): { info: FieldInfo; scope: MessageScope } | undefined {
  const name = token.kind === 'string' ? token.text.slice(1, -1) : token.text;
  const outer = scope.enclosingField(name);
  if (outer === undefined) {
    reportUnknown(name, { token, scope });
    return undefined;
  }
  if (scope.lacksClose) return outer;
  if (isOutdented(token, scope)) {
    scope.lacksClose = true;
    const bracket = `${quote(scope.anchor.text)} of line ${lineOf(scope.anchor, scope)}`;
    const message = `${quote(name)} belongs to ${outer.scope.type.name}; the ${bracket} must be closed before it`;
    scope.findings.problems.add({ reason: 'unbalanced', message, ...over(token) });
    return outer;
  }
  const message = `${scope.type.name} has no field ${quote(name)}; it belongs to ${outer.scope.type.name}, further out`;
  scope.findings.problems.add({ reason: 'unknown-field', message, ...over(token) });
  return undefined;
}

/** Whether the name begins a line, no further right than the line with the opening bracket: then a closer was forgotten. */
function isOutdented(token: Token, { anchor, findings }: MessageScope): boolean {
  if (!token.leading.includes('\n')) return false;
  const { lines } = findings.problems;
  const opened = lines.lineText(lines.positionAt(anchor.start).line).slice(0, DEEPEST_INDENT);
  return lines.positionAt(token.start).column - 1 <= opened.search(/\S|$/);
}

function lineOf(token: Token, { findings }: MessageScope): number {
  return findings.problems.lines.positionAt(token.start).line;
}

function reportUnknown(name: string, { token, scope }: { token: Token; scope: MessageScope }): void {
  const { type, findings } = scope;
  const { problems } = findings;
  if (type.isReservedName(name)) {
    const message = `${quote(name)} is a removed field of ${type.name}; it has no effect`;
    problems.add({ reason: 'reserved-field', severity: 'warning', message, ...over(token) });
    return;
  }
  const suggestion = problems.hasRoom ? nearestName(name, typeInfo(type).textNames) : undefined;
  const hint = suggestion === undefined ? '' : `; did you mean ${quote(suggestion)}?`;
  const message = `${type.name} has no field ${quote(name)}${hint}`;
  problems.add({ reason: 'unknown-field', message, ...over(token), suggestion });
}
