/**
 * Writes src/generated/ from proto/: schema.ts, the services and messages as JSON, and descriptors.ts, the files as clients of reflection want them.
 *
 * usage: node scripts/generate.mjs        (run by `pnpm generate`; a test fails when a file is out of date)
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import { describeFiles } from './descriptors.mjs';

const HEAD = '// Generated from proto/ by scripts/generate.mjs; edit that and run `pnpm generate`.\n';
const FILES = [
  '../model-config/proto/model_config.proto',
  'proto/grpc_service.proto',
  'proto/health.proto',
  'proto/reflection.proto',
];
/** Names that other files import them by. */
const NAMES = [
  'model_config.proto',
  'grpc_service.proto',
  'grpc/health/v1/health.proto',
  'grpc/reflection/v1/reflection.proto',
];

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

/** Parses the schema. */
export function readSchema() {
  const root = new protobuf.Root();
  for (const file of FILES) protobuf.parse(readFileSync(path(file), 'utf8'), root);
  return root.resolveAll();
}

/**
 * The schema without that of configurations, which `@nereid/model-config` has: a configuration is bytes here, which on the wire is what a message inside of a message is.
 */
export function ownSchema(root) {
  const schema = root.toJSON();
  const { nested } = schema.nested.inference;
  for (const name of Object.keys(configurations())) delete nested[name];
  nested.ModelConfigResponse.fields.config.type = 'bytes';
  return schema;
}

function configurations() {
  return protobuf.parse(readFileSync(path(FILES[0]), 'utf8')).root.toJSON().nested.inference.nested;
}

/** Source of src/generated/schema.ts before formatting. */
export function renderSchema(root) {
  return `${HEAD}export const SCHEMA = ${JSON.stringify(ownSchema(root), undefined, 2)};\n`;
}

/** Descriptors of the files, and of reflection under its older name. */
export function describeSchema() {
  const sources = FILES.map((file, i) => ({ name: NAMES[i], text: readFileSync(path(file), 'utf8') }));
  const { name, text } = sources[sources.length - 1];
  const older = {
    name: name.replace('/v1/', '/v1alpha/'),
    text: text.replace('reflection.v1;', 'reflection.v1alpha;'),
  };
  return describeFiles([...sources, older]);
}

/** Source of src/generated/descriptors.ts before formatting. */
export function renderDescriptors(files) {
  return `${HEAD}export interface DescribedFile {
  readonly name: string;
  readonly imports: readonly string[];
  readonly services: readonly string[];
  readonly symbols: readonly string[];
  readonly base64: string;
}
export const DESCRIPTORS: readonly DescribedFile[] = ${JSON.stringify(files, undefined, 2)};\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(path('src/generated/schema.ts'), renderSchema(readSchema()));
  writeFileSync(path('src/generated/descriptors.ts'), renderDescriptors(describeSchema()));
}
