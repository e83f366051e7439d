/**
 * Writes src/generated/ from proto/model_config.proto: the schema as reflection JSON and the TypeScript types.
 *
 * usage: node scripts/generate.mjs        (run by `pnpm generate`; a test fails when the files are out of date)
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

const HEAD = '// Generated from proto/model_config.proto by scripts/generate.mjs; edit that and run `pnpm generate`.\n';

const SCALARS = {
  string: 'string',
  bool: 'boolean',
  float: 'number',
  double: 'number',
  int32: 'number',
  uint32: 'number',
  int64: 'number',
  uint64: 'bigint',
};

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

/** Parses the schema, keeping comments. */
export function readSchema() {
  const text = readFileSync(path('proto/model_config.proto'), 'utf8');
  const { root } = protobuf.parse(text, { alternateCommentMode: true });
  return root.resolveAll();
}

/** Source of src/generated/schema.ts before formatting. */
export function renderSchema(root) {
  const json = JSON.stringify(root.toJSON(), undefined, 2);
  return `${HEAD}export const SCHEMA = ${json};\n`;
}

/** Source of src/generated/types.ts. */
export function renderTypes(root) {
  const blocks = [...declarations(root.lookup('inference'))];
  return `${HEAD}\n${blocks.join('\n')}`;
}

function* declarations(namespace) {
  for (const object of namespace.nestedArray) {
    yield object instanceof protobuf.Enum ? enumType(object) : messageType(object);
    if (object instanceof protobuf.Type && object.nested) yield* declarations(object);
  }
}

/** `.inference.ModelInstanceGroup.Kind` → `ModelInstanceGroupKind`; a name that already starts with its parent's keeps it once. */
function typeName(object) {
  if (!(object.parent instanceof protobuf.Type)) return object.name;
  const inner = object.name.startsWith(object.parent.name) ? object.name.slice(object.parent.name.length) : object.name;
  return typeName(object.parent) + inner;
}

function enumType(object) {
  const names = Object.keys(object.values).map((name) => `'${name}'`);
  const oneLine = `export type ${typeName(object)} = ${names.join(' | ')};\n`;
  const lines = `export type ${typeName(object)} =\n${names.map((name) => `  | ${name}`).join('\n')};\n`;
  return doc(object.comment, '') + (oneLine.length <= 121 ? oneLine : lines);
}

function messageType(type) {
  if (type.fieldsArray.length === 0)
    return `${doc(type.comment, '')}export type ${typeName(type)} = Readonly<Record<never, never>>;\n`;
  const fields = type.fieldsArray.map((field) => doc(field.comment, '  ') + property(field));
  return `${doc(type.comment, '')}export interface ${typeName(type)} {\n${fields.join('')}}\n`;
}

function property(field) {
  const single = field.resolvedType ? typeName(field.resolvedType) : SCALARS[field.type];
  if (field.map) return `  readonly ${field.name}: ReadonlyMap<${SCALARS[field.keyType]}, ${single}>;\n`;
  if (field.repeated) return `  readonly ${field.name}: readonly ${single}[];\n`;
  return `  readonly ${field.name}${isOptional(field) ? '?' : ''}: ${single};\n`;
}

function isOptional(field) {
  return Boolean(field.partOf) || field.resolvedType instanceof protobuf.Type;
}

function doc(comment, indent) {
  return comment ? `${indent}/** ${comment.replaceAll('\n', ' ')} */\n` : '';
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = readSchema();
  writeFileSync(path('src/generated/schema.ts'), renderSchema(root));
  writeFileSync(path('src/generated/types.ts'), renderTypes(root));
}
