import textformat from 'protobufjs/ext/textformat.js';
import type protobuf from 'protobufjs/light.js';
import { PbtxtError } from './errors.ts';
import { restoreNames } from './restore-names.ts';
import type { Document } from './syntax.ts';
import { tokensOf } from './tree.ts';

/**
 * Prints a message of `type`: fields by number, two spaces of indentation, a newline at the end unless it is empty.
 * `parseMessage` reads an equal message back.
 *
 * @param message  of the type's class or a plain object; fields that are not set are left out, unknown fields too
 * @throws {PbtxtError} INVALID_ARG `unprintable-message` when a value does not fit its field
 */
export function printMessage(type: protobuf.Type, message: object): string {
  try {
    const text = textformat.toText(type, message);
    return text === '' ? '' : `${restoreNames(type, text)}\n`;
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    const text = `the message does not fit ${type.name}: ${detail}`;
    throw new PbtxtError({ reason: 'unprintable-message', message: text, cause });
  }
}

/** The text of a tree, character by character as it was parsed, or as the tree was edited. */
export function printSyntax(document: Document): string {
  const pieces: string[] = [];
  for (const { leading, text } of tokensOf(document)) pieces.push(leading, text);
  return pieces.join('');
}
