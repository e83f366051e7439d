/** Calls that take a key: a header, whose name and value are agreed on beforehand. The same for every protocol. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Groups of calls, as they are restricted. */
export const API_CATEGORIES = [
  'health',
  'metadata',
  'inference',
  'shared-memory',
  'model-config',
  'model-repository',
  'statistics',
  'trace',
  'logging',
] as const;

export type ApiCategory = (typeof API_CATEGORIES)[number];

export interface ApiRestriction {
  readonly categories: readonly ApiCategory[];
  /** Name of the header; its case does not matter. */
  readonly key: string;
  /** The whole value of the header, to the letter. */
  readonly value: string;
}

/** Headers of a request by their names in lower case, as Node gives them. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

interface Expected {
  /** In lower case. */
  readonly header: string;
  readonly digest: Buffer;
}

export class ApiRestrictions {
  readonly #expected = new Map<ApiCategory, Expected>();

  /**
   * @param headerPrefix  what stands before each key in the name of its header; '' by default
   * @throws {TypeError} for a category in several restrictions
   */
  constructor(restrictions: readonly ApiRestriction[], headerPrefix = '') {
    for (const { categories, key, value } of restrictions) {
      const expected = { header: `${headerPrefix}${key}`.toLowerCase(), digest: digestOf(value) };
      for (const category of categories) {
        if (this.#expected.has(category))
          throw new TypeError(`'${category}' can not be specified in multiple config groups`);
        this.#expected.set(category, expected);
      }
    }
  }

  /**
   * The header that keeps a call of the category from being answered: it is missing or has another value; undefined when the call is open. How long the
   * comparison takes tells nothing of the value.
   */
  missingHeader(category: ApiCategory, headers: RequestHeaders): string | undefined {
    const expected = this.#expected.get(category);
    if (expected === undefined) return undefined;
    const given = headers[expected.header];
    const isRight = typeof given === 'string' && timingSafeEqual(digestOf(given), expected.digest);
    return isRight ? undefined : expected.header;
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
