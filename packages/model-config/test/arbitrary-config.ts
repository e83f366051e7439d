import fc from 'fast-check';
import { type FieldInfo, type MessageInfo, modelConfigInfo, type ScalarType, type ValueType } from '../src/fields.ts';
import type { ModelConfig } from '../src/index.ts';

const SCALARS: Readonly<Record<ScalarType, fc.Arbitrary<unknown>>> = {
  string: fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constantFrom('', '"', '\\', "'", '\u0000', '__proto__', 'é\n'),
  ),
  bool: fc.boolean(),
  float: fc.float(),
  double: fc.double(),
  int32: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  uint32: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  int64: fc.maxSafeInteger(),
  uint64: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
};

function value(type: ValueType): fc.Arbitrary<unknown> {
  switch (type.kind) {
    case 'message':
      return message(type.message);
    case 'enum':
      return fc.constantFrom(...type.values.keys());
    case 'scalar':
      return SCALARS[type.type];
    default:
      return type satisfies never;
  }
}

function contained(field: FieldInfo): fc.Arbitrary<unknown> {
  const item = value(field.value);
  if (field.container === 'single') return item;
  if (field.container === 'list') return fc.array(item, { maxLength: 2 });
  const key = field.keyType === 'uint64' ? SCALARS.uint64 : SCALARS.string;
  return fc.array(fc.tuple(key, item), { maxLength: 2 }).map((entries) => new Map(entries));
}

/** Any message of the schema; of each oneof at most one member is set. */
function message(info: MessageInfo): fc.Arbitrary<object> {
  const oneofs = [...new Set(info.fields.flatMap(({ oneof }) => oneof ?? []))];
  const requiredKeys = info.fields.filter(({ optional }) => !optional).map(({ name }) => name);
  const record = fc.record(Object.fromEntries(info.fields.map((field) => [field.name, contained(field)])), {
    requiredKeys,
  });
  const choices = fc.record(Object.fromEntries(oneofs.map((oneof) => [oneof, fc.nat(5)])));
  return fc.tuple(record, choices).map(([fields, choice]) => keepChosen(info, fields, choice));
}

function keepChosen(info: MessageInfo, fields: object, choice: Readonly<Record<string, number>>): object {
  const dropped = new Set<string>();
  for (const [oneof, chosen] of Object.entries(choice)) {
    const members = info.fields.filter((field) => field.oneof === oneof);
    for (const [i, { name }] of members.entries()) if (i !== chosen % (members.length + 1)) dropped.add(name);
  }
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !dropped.has(name)));
}

/** Any configuration that the schema allows, most of them invalid. */
export const arbitraryConfig: fc.Arbitrary<ModelConfig> = message(modelConfigInfo()) as fc.Arbitrary<ModelConfig>;
