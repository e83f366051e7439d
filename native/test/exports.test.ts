import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as native from '@nereid/native';
import { testLibrary } from '@nereid/testing';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { openAoti, openTorchScript, Session } from './support.ts';

const file = createRequire(import.meta.url).resolve('../binding.d.ts');
const declarations = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);

function declaredFunctions(): readonly string[] {
  return declarations.statements.filter(ts.isFunctionDeclaration).flatMap(({ name }) => name?.text ?? []);
}

function declaredMembers(name: string): readonly string[] {
  const found = declarations.statements.filter(ts.isInterfaceDeclaration).find((each) => each.name.text === name);
  return (found?.members ?? []).flatMap((member) =>
    member.name && ts.isIdentifier(member.name) ? member.name.text : [],
  );
}

/** Own properties and methods of the class. */
function membersOf(value: object): readonly string[] {
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(value)).filter(
    (name) => name !== 'constructor' && !(name in Object.prototype),
  );
  return [...Object.keys(value), ...methods].sort();
}

test('the addon exports the functions of binding.d.ts, and no others', () => {
  expect(Object.keys(native).sort()).toEqual([...declaredFunctions()].sort());
});

test('handles and results have the members of binding.d.ts, and no others', async () => {
  const [module, aoti] = [await openTorchScript('double'), await openAoti('mlp')];
  await using session = await Session.torchScript('double');
  const outcome = await session.run({ buffers: [new Uint8Array(4)], rows: [1], shapes: [1, 1] });
  const about = {
    modelName: 'm',
    modelVersion: '1',
    modelDirectory: '/m',
    config: '{}',
    inputNames: [],
    outputNames: [],
  };
  const strategy = native.openBatchStrategy({ library: await testLibrary('single_strategy'), ...about, onLog() {} });
  const found: readonly (readonly [string, object])[] = [
    ['TorchScriptModule', module],
    ['AotiPackage', aoti],
    ['Instance', session.instance],
    ['Outcome', outcome],
    ['BuildInfo', native.buildInfo()],
    ['MemoryInfo', native.memoryInfo()],
    ['Alarm', native.openAlarm(() => {})],
    ['ForwardSchema', module.schema],
    ['BatchStrategyLibrary', strategy],
  ];
  for (const [name, value] of found)
    expect([name, membersOf(value)]).toEqual([name, [...declaredMembers(name)].sort()]);
  strategy.close();
  await Promise.all([module.close(), aoti.close()]);
});
