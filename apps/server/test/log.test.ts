import { execFile, execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { type LogOptions, openLog, StartError } from '../src/index.ts';
import { readModelLevels } from '../src/log-levels.ts';

const folder = mkdtempSync(join(tmpdir(), 'nereid-log-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const QUIET = { format: 'json', verbose: 0, info: true, warning: true, error: true } as const;

async function logged(options: Partial<LogOptions>): Promise<string[]> {
  const file = join(folder, `${files++}.log`);
  const log = openLog({ format: 'default', verbose: 0, info: true, warning: true, error: true, file, ...options });
  log.debug({}, 'detail');
  log.info({ model: 'mlp', version: '1' }, 'loaded');
  log.warn({}, 'careful');
  log.error({ count: 2 }, 'broken\nI1129 forged line');
  await log.close();
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

describe('log lines', () => {
  test('begin with level, month and day, time in microseconds and process', async () => {
    expect((await logged({}))[0]).toMatch(/^I\d{4} \d\d:\d\d:\d\d\.\d{6} \d+\] loaded model=mlp version=1$/);
  });

  test('have the ISO 8601 form when asked for', async () => {
    expect((await logged({ format: 'ISO8601' }))[1]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ W \d+\] careful$/);
  });

  test('are JSON objects in JSON', async () => {
    expect(JSON.parse((await logged({ format: 'json' }))[0] ?? '')).toMatchObject({
      level: 30,
      model: 'mlp',
      version: '1',
      msg: 'loaded',
    });
  });

  test('cannot be forged by a message', async () => {
    const lines = await logged({});
    expect(lines).toHaveLength(3);
    expect(lines[2]).toContain('broken\\nI1129 forged line count=2');
  });

  test('are left as they are when that is asked for', async () => {
    expect((await logged({ escapes: false })).slice(2)).toEqual([
      expect.stringMatching(/broken$/),
      'I1129 forged line count=2',
    ]);
  });

  test.each([
    [{ info: false }, ['careful', 'broken']],
    [{ warning: false }, ['loaded', 'broken']],
    [{ error: false }, ['loaded', 'careful']],
    [{ verbose: 1 }, ['detail', 'loaded', 'careful', 'broken']],
  ])('are chosen by level: %j', async (options, words) => {
    const lines = await logged(options);
    expect(lines).toHaveLength(words.length);
    for (const [index, word] of words.entries()) expect(lines[index]).toContain(word);
  });
});

test('a log file that cannot be opened is named', async () => {
  await expect(logged({ file: join(folder, 'no', 'such', 'folder.log') })).rejects.toThrow(StartError);
});

describe('settings', () => {
  test('change what is logged from the next line on', async () => {
    const file = join(folder, 'changes.log');
    const log = openLog({ format: 'default', verbose: 0, info: true, warning: true, error: true, file });
    expect(log.isVerbose).toBe(false);
    log.debug({}, 'unseen');
    log.update({ verboseLevel: 1, info: false, format: 'json' });
    expect(log.isVerbose).toBe(true);
    log.debug({}, 'detail');
    log.info({}, 'unseen');
    log.update({ verboseLevel: 0 });
    log.debug({}, 'unseen');
    await log.close();
    expect(
      readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
    ).toEqual(['detail']);
    expect(log.settings).toEqual({
      file,
      info: false,
      warning: true,
      error: true,
      verboseLevel: 0,
      format: 'json',
    });
  });

  test('of one model stand in place of those for all', async () => {
    const file = join(folder, 'models.log');
    const models = readModelLevels(['loud=verbose', 'a=b=error', 'loud=VERBOSE', 'calm=warning']);
    const log = openLog({ format: 'json', verbose: 0, info: true, warning: false, error: true, file, models });
    for (const model of ['loud', 'a=b', 'calm', 'other', undefined]) {
      log.debug({ model }, 'debug');
      log.info({ model }, 'info');
      log.warn({ model }, 'warning');
      log.error({ model }, 'error');
    }
    await log.close();
    const lines = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const of = (name: string | undefined) => lines.filter(({ model }) => model === name).map(({ msg }) => msg);
    expect(of('loud')).toEqual(['debug', 'info', 'warning', 'error']);
    expect(of('a=b')).toEqual(['error']);
    expect(of('calm')).toEqual(['warning', 'error']);
    expect(of('other')).toEqual(['info', 'error']);
    expect(of(undefined)).toEqual(['info', 'error']);
  });

  test.each(['mlp', '=error', 'mlp=loud', 'mlp='])('of one model are refused in another form: %s', (text) => {
    expect(() => readModelLevels([text])).toThrow(
      `takes MODEL=LEVEL with a level of error, warning, info, verbose, got '${text}'`,
    );
  });
});

test('a reader that does not read holds nobody up: lines beyond the bound are dropped, and told', async () => {
  const pipe = join(folder, 'slow.pipe');
  execFileSync('mkfifo', [pipe]);
  // Keeps the pipe open, and reads nothing.
  const idle = openSync(pipe, constants.O_RDWR);
  const log = openLog({ ...QUIET, file: pipe, maxWaitingBytes: 100_000 });
  const line = 'x'.repeat(1000);
  for (let i = 0; i < 1000; i++) log.info({ i }, line);
  const reader = promisify(execFile)('cat', [pipe]);
  await log.close();
  closeSync(idle);
  const lines = (await reader).stdout
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each));
  const told = lines.find(({ dropped }) => dropped > 0);
  expect(told.dropped).toBe(1001 - lines.length);
  expect(lines.length).toBeLessThan(500);
});
