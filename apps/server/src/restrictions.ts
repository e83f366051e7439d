/** `--http-restricted-api`, `--grpc-restricted-protocol`, and the patterns of headers for models. */
import {
  API_CATEGORIES,
  type ApiCategory,
  type ApiRestriction,
  ApiRestrictions,
  HeaderForwarding,
} from '@nereid/serving';
import { UsageError } from './errors.ts';
import type { FlagValues } from './flags/table.ts';

/** @throws {UsageError} for a restriction that is none, and for a category in two of them */
export function readRestrictions(
  values: FlagValues,
  flag: 'http-restricted-api' | 'grpc-restricted-protocol',
): readonly ApiRestriction[] {
  const restrictions = values[flag].map((text) => parse(text, flag));
  try {
    new ApiRestrictions(restrictions);
  } catch (error) {
    throw new UsageError(`option '--${flag}': ${(error as Error).message}`);
  }
  return restrictions;
}

function parse(text: string, flag: string): ApiRestriction {
  const [, list, key, value] = /^([^:=]+):([^=]+)=(.+)$/s.exec(text) ?? [];
  if (list === undefined || key === undefined || value === undefined) {
    throw new UsageError(`option '--${flag}' takes category[,category]:key=value, got '${text}'`);
  }
  // The key is the name of a header.
  if (!/^[-!#$%&'*+.^_`|~\dA-Za-z]+$/.test(key)) {
    throw new UsageError(`option '--${flag}' takes the name of a header as key, got '${key}'`);
  }
  return { categories: list.split(',').map((name) => category(name, flag)), key, value };
}

function category(name: string, flag: string): ApiCategory {
  const known = API_CATEGORIES.find((one) => one === name);
  if (known !== undefined) return known;
  throw new UsageError(`option '--${flag}': unknown category '${name}'; expected one of ${API_CATEGORIES.join(', ')}`);
}

/**
 * @returns undefined when no pattern is given
 * @throws {UsageError} for a pattern that is no regular expression
 */
export function readForwardPattern(
  values: FlagValues,
  flag: 'http-header-forward-pattern' | 'grpc-header-forward-pattern',
): string | undefined {
  const pattern = values[flag];
  if (pattern === '') return undefined;
  try {
    new HeaderForwarding(pattern);
  } catch (error) {
    throw new UsageError(`option '--${flag}': ${(error as Error).message}`);
  }
  return pattern;
}
