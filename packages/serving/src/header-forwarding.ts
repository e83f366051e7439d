/** Headers of a request that its model gets to see, as request parameters. The same for every protocol. */
import type { InferenceRequestInit } from '@nereid/core';
import { ServingError } from './errors.ts';

/** Parameters with a meaning of their own, which no header may take. */
const RESERVED: ReadonlySet<string> = new Set([
  'sequence_id',
  'sequence_start',
  'sequence_end',
  'priority',
  'timeout',
  'headers',
  'binary_data_output',
]);
const RESERVED_PREFIX = 'triton_';

/** Names whose match is remembered: clients send the same ones again and again. */
const REMEMBERED_NAMES = 1024;

export class HeaderForwarding {
  readonly #pattern: RegExp;
  readonly #matches = new Map<string, boolean>();

  /**
   * @param pattern  regular expression that is searched in the names of headers, whatever their case unless it has `(?-i)`. Written for RE2; the few constructs
   * of RE2 that JavaScript does not have are refused
   * @throws {SyntaxError} for a pattern that is none
   */
  constructor(pattern: string) {
    this.#pattern = toRegExp(pattern);
  }

  /**
   * The headers that are forwarded, by name as given; the values of a repeated one are joined by a comma.
   * @param headers  name, value, name, value …
   * @throws {ServingError} INVALID_ARG `reserved-header` for a name that means something as a parameter
   */
  parametersOf(headers: readonly string[]): ReadonlyMap<string, string> {
    const parameters = new Map<string, string>();
    for (let i = 0; i + 1 < headers.length; i += 2) {
      const [name = '', value = ''] = headers.slice(i, i + 2);
      if (!this.#isMatch(name)) continue;
      if (RESERVED.has(name) || name.startsWith(RESERVED_PREFIX)) throw reserved(name);
      const before = parameters.get(name);
      parameters.set(name, before === undefined ? value : `${before}, ${value}`);
    }
    return parameters;
  }

  #isMatch(name: string): boolean {
    let isMatch = this.#matches.get(name);
    if (isMatch !== undefined) return isMatch;
    isMatch = this.#pattern.test(name);
    if (this.#matches.size === REMEMBERED_NAMES) this.#matches.clear();
    this.#matches.set(name, isMatch);
    return isMatch;
  }
}

/** The request with forwarded headers among its parameters; a header stands before a parameter of the same name, which the client may have made up. */
export function withForwarded<Init extends Pick<InferenceRequestInit, 'parameters'>>(
  init: Init,
  forwarded: ReadonlyMap<string, string>,
): Init {
  return { ...init, parameters: new Map([...(init.parameters ?? []), ...forwarded]) };
}

/** Flags inside a pattern that say what is the case for the whole of it. */
const CASE_FLAG = /\(\?-?i\)/g;

/** RE2 to JavaScript: flags, named groups, and escaped punctuation, which JavaScript takes only in its own places. */
function toRegExp(pattern: string): RegExp {
  const translated = pattern
    .replace(CASE_FLAG, '')
    .replaceAll('(?P<', '(?<')
    .replace(/\\([^A-Za-z0-9])/g, (_, mark: string) => `\\u{${mark.codePointAt(0)?.toString(16)}}`);
  return new RegExp(translated, pattern.includes('(?-i)') ? 'u' : 'iu');
}

function reserved(name: string): ServingError {
  return new ServingError(
    'reserved-header',
    `the header '${name}' is forwarded to the model, but parameter '${name}' is reserved for Triton usage: do not send it, or forward fewer headers`,
  );
}
