const LONGEST = 40;
const SIMPLE = /^[\w.:{}[\]<>,;-]{0,40}$/;

/** Part of the text as messages show it: on one line, without control characters, cut after 40 characters, in backticks. */
export function quote(text: string): string {
  if (SIMPLE.test(text)) return `\`${text}\``;
  const visible = text.slice(0, LONGEST + 1).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu, escapeCharacter);
  const cut = visible.length > LONGEST ? `${visible.slice(0, LONGEST)}…` : visible;
  return cut.includes('`') ? `'${cut}'` : `\`${cut}\``;
}

/** `U+00A0`. */
export function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  if (character === '\t') return '\\t';
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
