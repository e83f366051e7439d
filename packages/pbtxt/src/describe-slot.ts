import type { Slot } from './schema.ts';

const WITH_AN = /^[aeiou]/i;

/** What a slot takes, with its article: `an int32`, `a ModelParameter message`, `a DataType name`. */
export function describeSlot({ type, messageType, enumType }: Slot): string {
  if (messageType !== undefined) return withArticle(`${messageType.name} message { … }`);
  return withArticle(enumType === undefined ? type : `${enumType.name} name`);
}

/** `u` of `uint32` is spoken as a consonant. */
function withArticle(noun: string): string {
  return `${WITH_AN.test(noun) && !noun.startsWith('uint') ? 'an' : 'a'} ${noun}`;
}
