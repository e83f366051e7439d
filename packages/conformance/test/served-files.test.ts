import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { testModel, usePython } from '@nereid/testing';
import { expect, test } from 'vitest';
import { startNereid } from '../src/nereid-process.ts';

const SCRIPT = fileURLToPath(new URL('../python/served_file_checks.py', import.meta.url));

test('the Python client infers on files that are served without any configuration', async () => {
  const files = [
    join(testModel('backend_aoti'), 'add.pt2'),
    join(testModel('archive_nested'), 'model.pt2'),
    join(testModel('completion_aoti'), 'model.pt2'),
    join(testModel('native_torchscript'), 'strings.pt'),
  ];
  const names = ['add', 'nested', 'ranked', 'strings'];
  await using server = await startNereid([], [...files, ...names.flatMap((name) => ['--model-name', name])]);
  const { stdout } = await promisify(execFile)(usePython(), [SCRIPT, new URL(server.url).host, ...names]);
  expect(JSON.parse(stdout)).toEqual({
    add: [
      ['OUTPUT__0', 'FP32', [2, 3]],
      ['OUTPUT__1', 'FP32', [2, 3]],
    ],
    nested: [
      ['RESULT[AAA]', 'FP32', [3, 3]],
      ['RESULT[ZZZ]', 'FP32', [3, 5]],
      ['RESULT[BBB][0]', 'FP32', [3, 3]],
      ['RESULT[BBB][1]', 'FP32', [3, 3]],
      ['RESULT[CCC][keyA]', 'FP32', [3, 2]],
      ['RESULT[CCC][key2]', 'FP32', [6, 4]],
      ['RESULT[DDD][KA]', 'FP32', [3]],
      ['RESULT[DDD][KB]', 'FP32', [7]],
    ],
    ranked: [
      ['OUTPUT__0', 'FP32', [2, 2]],
      ['OUTPUT__1', 'INT64', [2, 2]],
      ['OUTPUT__2', 'FP64', [2, 3]],
    ],
    strings: [['OUTPUT__0', 'BYTES', [3]]],
  });
  expect(await server.stop()).toBe(0);
}, 60_000);
