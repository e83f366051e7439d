/*
 * The concrete syntax tree. Every character of a text belongs to exactly one token: to its `text`, or to the white space
 * and comments in `leading` before it. Printing all tokens in order gives the text back, whatever it was.
 *
 *   document   item* end
 *   item       field | skipped
 *   field      (name | extension) [":"] value [","|";"]
 *   value      scalar | message | list
 *   scalar     ["-"] token | string+
 *   message    "{" item* "}"  or  "<" item* ">"
 *   list       "[" (value ",")* "]"
 */

/** `bad` is what no valid text holds (it has a diagnostic); `placeholder` is `${NAME}`, `$NAME` or `{{ name }}`. */
export type TokenKind = 'name' | 'integer' | 'float' | 'string' | 'punctuation' | 'placeholder' | 'bad' | 'end';

/** A word of the text, with the white space and comments before it. */
export interface Token {
  readonly kind: TokenKind;
  /** White space and comments between the previous token and this one; the byte-order mark for the first. */
  readonly leading: string;
  /** As written: strings with quotes and escapes. Empty for `end`. */
  readonly text: string;
  /** Offset of `text` in the parsed text, in UTF-16 units. */
  readonly start: number;
}

/** `max_batch_size`. A quoted one is kept as a `string` token (and has a diagnostic). */
export interface PlainName {
  readonly kind: 'name';
  readonly token: Token;
}

/** `[pkg.extension]` or, in a google.protobuf.Any, `[type.googleapis.com/pkg.Type]`. */
export interface BracketName {
  readonly kind: 'bracket-name';
  readonly open: Token;
  readonly parts: readonly Token[];
  readonly close: Token | undefined;
}

/** One value that is neither message nor list. Several tokens are adjacent strings, or text that lacks its quotes. */
export interface Scalar {
  readonly kind: 'scalar';
  readonly sign: Token | undefined;
  readonly tokens: readonly Token[];
}

/** `{ … }` or `< … >`; `close` is undefined when it was never closed. */
export interface MessageValue {
  readonly kind: 'message';
  readonly open: Token;
  readonly items: readonly Item[];
  readonly close: Token | undefined;
}

/** `[ …, … ]`; `close` is undefined when it was never closed. */
export interface ListValue {
  readonly kind: 'list';
  readonly open: Token;
  readonly elements: readonly (ListElement | Skipped)[];
  readonly close: Token | undefined;
}

/** One value of a list with the comma after it. */
export interface ListElement {
  readonly kind: 'element';
  readonly value: Value;
  readonly comma: Token | undefined;
}

export type Value = Scalar | MessageValue | ListValue;

/** A field as written; a repeated field may have many. `value` is undefined when it is missing. */
export interface Field {
  readonly kind: 'field';
  readonly name: PlainName | BracketName;
  readonly colon: Token | undefined;
  readonly value: Value | undefined;
  readonly separator: Token | undefined;
}

/** Tokens that fit nowhere; a diagnostic says why. */
export interface Skipped {
  readonly kind: 'skipped';
  readonly tokens: readonly Token[];
}

export type Item = Field | Skipped;

/** A whole text. */
export interface Document {
  readonly kind: 'document';
  /** The text that was parsed; offsets of tokens refer to it. */
  readonly text: string;
  readonly items: readonly Item[];
  /** Carries the white space and comments after the last item. */
  readonly end: Token;
}

export type SyntaxNode = Document | Item | PlainName | BracketName | Value | ListElement;
