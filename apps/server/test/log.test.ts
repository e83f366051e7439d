import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type LogOptions, openLog, StartError } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'nereid-log-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

function logged(options: Partial<LogOptions>): string[] {
  const file = join(folder, `${files++}.log`);
  const log = openLog({ format: 'default', verbose: 0, info: true, warning: true, error: true, file, ...options });
  log.debug({}, 'detail');
  log.info({ model: 'mlp', version: '1' }, 'loaded');
  log.warn({}, 'careful');
  log.error({ count: 2 }, 'broken\nI1129 forged line');
  log.close();
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

describe('log lines', () => {
  test('begin with level, month and day, time in microseconds and process', () => {
    expect(logged({})[0]).toMatch(/^I\d{4} \d\d:\d\d:\d\d\.\d{6} \d+\] loaded model=mlp version=1$/);
  });

  test('have the ISO 8601 form when asked for', () => {
    expect(logged({ format: 'ISO8601' })[1]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ W \d+\] careful$/);
  });

  test('are JSON objects in JSON', () => {
    expect(JSON.parse(logged({ format: 'json' })[0] ?? '')).toMatchObject({
      level: 30,
      model: 'mlp',
      version: '1',
      msg: 'loaded',
    });
  });

  test('cannot be forged by a message', () => {
    expect(logged({})).toHaveLength(3);
    expect(logged({})[2]).toContain('broken\\nI1129 forged line count=2');
  });

  test.each([
    [{ info: false }, ['careful', 'broken']],
    [{ warning: false }, ['loaded', 'broken']],
    [{ error: false }, ['loaded', 'careful']],
    [{ verbose: 1 }, ['detail', 'loaded', 'careful', 'broken']],
  ])('are chosen by level: %j', (options, words) => {
    const lines = logged(options);
    expect(lines).toHaveLength(words.length);
    for (const [index, word] of words.entries()) expect(lines[index]).toContain(word);
  });
});

test('a log file that cannot be opened is named', () => {
  expect(() => logged({ file: join(folder, 'no', 'such', 'folder.log') })).toThrow(StartError);
});
