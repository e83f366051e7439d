import type { Flag, MapForm } from './flag.ts';
import { FLAGS } from './table.ts';

/** A part of a JSON Schema. */
type Schema = Readonly<Record<string, unknown>>;

/** What is written between quotes or not, as one likes: YAML takes `1` for a number and `true` for none. */
const TEXT: Schema = { type: ['string', 'number', 'boolean'], minLength: 1 };

/** The JSON Schema (draft 7) of a file of options. */
export function configSchema(): Schema {
  const properties = Object.entries<Flag>(FLAGS)
    .filter(([name]) => name !== 'config')
    .flatMap(([name, flag]) => [name, flag.alias ?? name].map((key) => [key, propertyOf(name, flag)] as const));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Options of nereid serve',
    type: 'object',
    additionalProperties: false,
    properties: { $schema: { type: 'string' }, ...Object.fromEntries(properties) },
  };
}

function propertyOf(name: string, flag: Flag): Schema {
  const description = flag.ignored === undefined ? flag.help : `Without effect: ${flag.ignored}.`;
  const initial =
    flag.default === undefined || flag.default === '' || flag.kind === 'list' ? {} : { default: flag.default };
  return { title: `--${name}`, description, ...initial, ...valueSchema(flag) };
}

function valueSchema(flag: Flag): Schema {
  switch (flag.kind) {
    case 'bool':
    case 'flag':
      return { type: 'boolean' };
    case 'int':
      return { type: 'integer', minimum: flag.min, maximum: flag.max };
    case 'float':
      return { type: 'number', minimum: flag.min, maximum: flag.max };
    case 'choice':
      return { enum: flag.choices };
    case 'string':
      return TEXT;
    case 'list': {
      const member = flag.map === undefined ? TEXT : { anyOf: [TEXT, mapSchema(flag.map)] };
      return { anyOf: [member, { type: 'array', items: member }] };
    }
    case 'any':
      return {};
    default:
      return flag satisfies never;
  }
}

function mapSchema({ sign, depth }: MapForm, level = 1): Schema {
  const value = { anyOf: [TEXT, { type: 'array', items: TEXT }] };
  if (level === depth) return { type: 'object', additionalProperties: value };
  return { type: 'object', additionalProperties: { anyOf: [...value.anyOf, mapSchema({ sign, depth }, level + 1)] } };
}
