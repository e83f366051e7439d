/** Values of options as text, the same for every place they come from. */
import { UsageError } from '../errors.ts';
import type { Flag } from './flag.ts';

const TRUE = new Set(['true', 'on', '1']);
const FALSE = new Set(['false', 'off', '0']);

/**
 * @param label  what the messages call the option: `option '--http-port'`, or the place where it is set
 * @param text  undefined where there is none
 * @returns a value of the option's type; that of one member for a list
 * @throws {UsageError} for a missing or bad value
 */
export function readValue(label: string, flag: Flag, text: string | undefined): unknown {
  if (flag.kind === 'any') return undefined;
  if (flag.kind === 'flag' && text === undefined) return true;
  if (text === undefined) throw new UsageError(`${label} needs a value`);
  switch (flag.kind) {
    case 'bool':
    case 'flag':
      return readBool(label, text);
    case 'int':
      return readInt(label, text, flag);
    case 'float':
      return readFloat(label, text, flag);
    case 'choice':
      return readChoice(label, text, flag.choices);
    case 'string':
    case 'list':
      if (text === '') throw new UsageError(`${label} needs a value that is not empty`);
      return text;
    default:
      return flag satisfies never;
  }
}

/** @throws {UsageError} for what is none of six spellings */
export function readBool(label: string, text: string): boolean {
  const word = text.toLowerCase();
  if (TRUE.has(word)) return true;
  if (FALSE.has(word)) return false;
  throw new UsageError(`${label} takes true or false (or on, off, 1, 0), got '${text}'`);
}

function readInt(label: string, text: string, range: { readonly min: number; readonly max: number }): number {
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.min && value <= range.max) return value;
  throw new UsageError(`${label} takes a whole number from ${range.min} to ${range.max}, got '${text}'`);
}

function readFloat(label: string, text: string, range: { readonly min: number; readonly max: number }): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= range.min && value <= range.max) return value;
  throw new UsageError(`${label} takes a number from ${range.min} to ${range.max}, got '${text}'`);
}

function readChoice(label: string, text: string, choices: readonly string[]): string {
  const found = choices.find((choice) => choice.toLowerCase() === text.toLowerCase());
  if (found !== undefined) return found;
  throw new UsageError(`${label} takes one of ${choices.join(', ')}, got '${text}'`);
}
