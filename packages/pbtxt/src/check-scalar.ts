import { nearestName } from '@nereid/core';
import type protobuf from 'protobufjs/light.js';
import { describeSlot } from './describe-slot.ts';
import type { DiagnosticReason } from './diagnostic.ts';
import type { Findings } from './findings.ts';
import { literalText, withoutSurrogateEscapes } from './literal.ts';
import { integerValue, isDecimal } from './number.ts';
import { quote } from './quote.ts';
import { isClosedEnum, type Slot } from './schema.ts';
import type { Scalar, Token } from './syntax.ts';
import { over } from './tree.ts';

/** What is wrong with a scalar. */
interface Fault {
  readonly reason: DiagnosticReason;
  readonly message: string;
  readonly suggestion?: string | undefined;
}

/** A scalar that the parser found nothing wrong with. */
interface Literal {
  readonly isNegative: boolean;
  readonly token: Token;
  readonly tokens: readonly Token[];
}

const RANGES: ReadonlyMap<string, readonly [bigint, bigint]> = new Map(
  Object.entries({
    int32: [-(2n ** 31n), 2n ** 31n - 1n],
    sint32: [-(2n ** 31n), 2n ** 31n - 1n],
    sfixed32: [-(2n ** 31n), 2n ** 31n - 1n],
    uint32: [0n, 2n ** 32n - 1n],
    fixed32: [0n, 2n ** 32n - 1n],
    int64: [-(2n ** 63n), 2n ** 63n - 1n],
    sint64: [-(2n ** 63n), 2n ** 63n - 1n],
    sfixed64: [-(2n ** 63n), 2n ** 63n - 1n],
    uint64: [0n, 2n ** 64n - 1n],
    fixed64: [0n, 2n ** 64n - 1n],
  }),
);
const ENUM_RANGE = [-(2n ** 31n), 2n ** 31n - 1n] as const;

/** An integer this short fits every type, so that its value need not be worked out. */
const SHORT = 9;
/** 2^64 in octal has 22 digits. */
const MOST_DIGITS = 22;
/** With more values than this a message does not list them. */
const MOST_LISTED = 8;

const BOOLEANS: ReadonlySet<string> = new Set(['true', 'True', 't', 'false', 'False', 'f']);
const MEANT_TRUE = /^["']?(?:true|yes|on|1)["']?$/i;
const MEANT_FALSE = /^["']?(?:false|no|off|0)["']?$/i;
const SPECIAL_FLOAT = /^(?:inf|infinity|nan)$/i;
const PLAIN_WORD = /^[\w.+-]+$/;

/** Checks a scalar against what a slot takes. */
export function checkScalar(slot: Slot, { scalar, findings }: { scalar: Scalar; findings: Findings }): void {
  const literal = literalOf(scalar);
  if (literal === undefined) return;
  const fault = faultOf(slot, literal);
  if (fault === undefined) {
    if (literal.token.kind === 'string') respell(literal.tokens, findings);
    return;
  }
  const place = over(scalar.sign ?? literal.token, literal.tokens.at(-1));
  findings.problems.add({ ...fault, ...place });
}

function literalOf({ sign, tokens }: Scalar): Literal | undefined {
  const [token] = tokens;
  if (token === undefined || tokens.some(({ kind }) => kind === 'bad' || kind === 'placeholder')) return undefined;
  if (tokens.length > 1 && token.kind !== 'string') return undefined;
  return { isNegative: sign !== undefined, token, tokens };
}

function respell(tokens: readonly Token[], { rewrites }: Findings): void {
  for (const token of tokens) {
    const text = withoutSurrogateEscapes(token.text);
    if (text !== undefined) rewrites.push({ ...over(token), text });
  }
}

function faultOf(slot: Slot, literal: Literal): Fault | undefined {
  if (slot.enumType !== undefined) return enumFault(slot, slot.enumType, literal);
  switch (slot.type) {
    case 'message':
      return wrongType(slot, literal, messageHint(slot, literal));
    case 'string':
    case 'bytes':
      return stringFault(slot, literal);
    case 'bool':
      return boolFault(slot, literal);
    case 'float':
    case 'double':
      return floatFault(slot, literal);
    default:
      return integerFault(slot, literal);
  }
}

function stringFault(slot: Slot, literal: Literal): Fault | undefined {
  const { token, tokens, isNegative } = literal;
  if (token.kind !== 'string') {
    const suggestion = `"${isNegative ? '-' : ''}${token.text}"`;
    const message = `${slot.label} takes a ${slot.type} in quotes; write ${quote(suggestion)}`;
    return { reason: token.kind === 'name' ? 'unquoted-string' : 'wrong-type', message, suggestion };
  }
  if (isNegative) return wrongType(slot, literal);
  if (slot.type === 'bytes' || literalText(tokens) !== undefined) return undefined;
  const message = `${slot.label} takes text, and the bytes that these escapes spell are not UTF-8`;
  return { reason: 'invalid-utf8', message };
}

function boolFault(slot: Slot, literal: Literal): Fault | undefined {
  const { token, isNegative } = literal;
  if (!isNegative && token.kind === 'name' && BOOLEANS.has(token.text)) return undefined;
  if (!isNegative && token.kind === 'integer' && isZeroOrOne(token.text)) return undefined;
  const meant = MEANT_TRUE.test(token.text) ? 'true' : MEANT_FALSE.test(token.text) ? 'false' : undefined;
  return wrongType(slot, literal, meant ?? { message: 'write true or false' });
}

function isZeroOrOne(text: string): boolean {
  return digitsOf(text).length <= 1 && integerValue(text) <= 1n;
}

function floatFault(slot: Slot, literal: Literal): Fault | undefined {
  const { token } = literal;
  if (token.kind === 'float' || (token.kind === 'name' && SPECIAL_FLOAT.test(token.text))) return undefined;
  if (token.kind !== 'integer') return wrongType(slot, literal, unquoted(literal));
  if (isDecimal(token.text)) return undefined;
  return wrongType(slot, literal, { message: 'write it as a decimal number' });
}

function integerFault(slot: Slot, literal: Literal): Fault | undefined {
  const range = RANGES.get(slot.type);
  if (literal.token.kind !== 'integer' || range === undefined) {
    return wrongType(slot, literal, wholeNumber(literal) ?? unquoted(literal));
  }
  return rangeFault(slot, literal, range);
}

function rangeFault(slot: Slot, literal: Literal, [least, greatest]: readonly [bigint, bigint]): Fault | undefined {
  const { token, isNegative } = literal;
  if (token.text.length <= SHORT && !(isNegative && least === 0n)) return undefined;
  if (digitsOf(token.text).length <= MOST_DIGITS && !(isNegative && least === 0n)) {
    const magnitude = integerValue(token.text);
    const value = isNegative ? -magnitude : magnitude;
    if (value >= least && value <= greatest) return undefined;
  }
  const written = quote(`${isNegative ? '-' : ''}${token.text}`);
  const type = slot.enumType === undefined ? slot.type : slot.enumType.name;
  const message = `${slot.label} is ${written}, outside ${type}: from ${least} to ${greatest}`;
  return { reason: 'out-of-range', message };
}

/** The digits that count, without base and leading zeros. */
function digitsOf(text: string): string {
  return text.replace(/^0[xX]?0*/, '');
}

function enumFault(slot: Slot, type: protobuf.Enum, literal: Literal): Fault | undefined {
  const { token, isNegative } = literal;
  if (token.kind === 'integer') return enumNumberFault(slot, type, literal);
  if (token.kind === 'float' || isNegative) return wrongType(slot, literal);
  const isString = token.kind === 'string';
  const name = isString ? literalText(literal.tokens) : token.text;
  if (name === undefined || !Object.hasOwn(type.values, name)) return unknownName(slot, type, name ?? token.text);
  return isString ? wrongType(slot, literal, name) : undefined;
}

function enumNumberFault(slot: Slot, type: protobuf.Enum, literal: Literal): Fault | undefined {
  const fault = rangeFault(slot, literal, ENUM_RANGE);
  if (fault !== undefined || !isClosedEnum(type)) return fault;
  const magnitude = Number(integerValue(literal.token.text));
  const value = literal.isNegative ? -magnitude : magnitude;
  if (type.valuesById[value] !== undefined) return undefined;
  const message = `${type.name} has no value with number ${value} for ${slot.label}${listed(type)}`;
  return { reason: 'unknown-enum-value', message };
}

function unknownName(slot: Slot, type: protobuf.Enum, name: string): Fault {
  const suggestion = nearestName(name, Object.keys(type.values));
  const hint = suggestion === undefined ? listed(type) : `; did you mean ${quote(suggestion)}?`;
  const message = `${type.name} has no value ${quote(name)} for ${slot.label}${hint}`;
  return { reason: 'unknown-enum-value', message, suggestion };
}

function listed(type: protobuf.Enum): string {
  const names = Object.keys(type.values);
  return names.length > MOST_LISTED ? '' : `; it has ${names.join(', ')}`;
}

/** A hint is what to write instead, or a sentence when that is not a replacement. */
type Hint = string | { readonly message: string } | undefined;

function wrongType(slot: Slot, { token, isNegative }: Literal, hint?: Hint): Fault {
  const came = quote(`${isNegative ? '-' : ''}${token.text}`);
  const message = `${slot.label} takes ${describeSlot(slot)}, not ${describeToken(token)} ${came}`;
  if (hint === undefined) return { reason: 'wrong-type', message };
  if (typeof hint !== 'string') return { reason: 'wrong-type', message: `${message}; ${hint.message}` };
  return { reason: 'wrong-type', message: `${message}; write ${quote(hint)}`, suggestion: hint };
}

function describeToken({ kind }: Token): string {
  return kind === 'string' ? 'the string' : kind === 'name' ? 'the word' : 'the number';
}

/** A number that was written as a string. */
function unquoted({ token, tokens }: Literal): Hint {
  const inner = token.text.slice(1, -1);
  const isNumber =
    token.kind === 'string' && tokens.length === 1 && PLAIN_WORD.test(inner) && !Number.isNaN(Number(inner));
  return isNumber ? inner : undefined;
}

/** `8.0` where an integer is needed. */
function wholeNumber({ token, isNegative }: Literal): Hint {
  const whole = token.kind === 'float' ? /^(\d+)\.0*$/.exec(token.text)?.[1] : undefined;
  return whole === undefined ? undefined : `${isNegative ? '-' : ''}${whole}`;
}

/** A message with a string field, such as a map's `ModelParameter`, is what a lone string most likely stands for. */
function messageHint({ messageType }: Slot, { token, tokens }: Literal): Hint {
  const field = messageType?.fieldsArray.find(({ type }) => type === 'string');
  if (field === undefined || token.kind !== 'string' || tokens.length > 1) return undefined;
  return messageType?.fieldsArray.length === 1 ? `{ ${field.protoName}: ${token.text} }` : undefined;
}
