import { nearestName } from '@nereid/core';
import protobuf from 'protobufjs/light.js';
import type { Problems } from './diagnostic.ts';
import { quote } from './quote.ts';
import { extensionName, type FieldInfo, isExtension, type Slot, typeInfo } from './schema.ts';
import type { BracketName } from './syntax.ts';
import { bracketText, lastToken, over } from './tree.ts';

/** What a name in brackets stands for: an extension field, or the message inside a google.protobuf.Any. */
export type Bracketed =
  | { readonly kind: 'extension'; readonly info: FieldInfo }
  | { readonly kind: 'any'; readonly slot: Slot };

/** Finds what a name in brackets stands for in a message of `type`; reports and returns undefined when there is none. */
export function resolveBracketName(name: BracketName, type: protobuf.Type, problems: Problems): Bracketed | undefined {
  const text = bracketText(name);
  const place = over(name.open, lastToken(name));
  if (type.fullName === '.google.protobuf.Any' && text.includes('/')) {
    const messageType = type.root.lookup(`.${text.slice(text.lastIndexOf('/') + 1)}`, protobuf.Type);
    if (messageType instanceof protobuf.Type) {
      return { kind: 'any', slot: { label: quote(text), type: 'message', messageType, enumType: undefined } };
    }
    problems.add({ reason: 'unknown-type', message: `no message type is known for ${quote(text)}`, ...place });
    return undefined;
  }
  const field = extensionField(text, type);
  const info = field === undefined ? undefined : typeInfo(type).byField.get(field);
  if (info !== undefined) return { kind: 'extension', info };
  const names = type.fieldsArray.filter(isExtension).map(extensionName);
  const nearest = problems.hasRoom ? nearestName(text, names) : undefined;
  const hint = nearest === undefined ? '' : `; did you mean ${quote(`[${nearest}]`)}?`;
  const suggestion = nearest === undefined ? undefined : `[${nearest}]`;
  problems.add({
    reason: 'unknown-extension',
    message: `${type.name} has no extension ${quote(text)}${hint}`,
    ...place,
    suggestion,
  });
  return undefined;
}

/** Both spellings that protobufjs reads: the name it gave the extension, and the one of the .proto file. */
function extensionField(text: string, type: protobuf.Type): protobuf.Field | undefined {
  return type.fieldsArray.find((field) => {
    if (!isExtension(field)) return false;
    return extensionName(field) === text || field.name.replace(/^\./, '') === text;
  });
}
