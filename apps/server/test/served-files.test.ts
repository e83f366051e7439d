import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testModel } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLog, optionsFromFlags, parseFlags, StartError, startServer } from '../src/index.ts';

const add = join(testModel('backend_aoti'), 'add.pt2');
const strings = join(testModel('native_torchscript'), 'strings.pt');
const addsub = join(testModel('backend_torchscript'), 'addsub.pt');

let folder: string;
let savedTmp: string | undefined;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nereid-server-'));
  savedTmp = process.env.TMPDIR;
  // Where temporary repositories are made, so that what is left of them is seen.
  process.env.TMPDIR = folder;
});
afterAll(() => {
  if (savedTmp === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = savedTmp;
  rmSync(folder, { recursive: true });
});

const temporary = () => readdirSync(folder).filter((name) => name.startsWith('nereid-files-'));

function start(...argv: string[]) {
  const { options } = optionsFromFlags(parseFlags(['--http-port=0', ...argv]));
  return startServer(options, openLog({ ...options.log, info: false, warning: false, error: false }));
}

describe('files are served without a repository', () => {
  test('each as a model of its own, with what the files tell', async () => {
    await using server = await start(add, strings, '--model-name=sum');
    expect(server.models().map(({ name, state }) => [name, state])).toEqual([
      ['strings', 'READY'],
      ['sum', 'READY'],
    ]);
    expect(await (await fetch(`${server.url}/v2/models/sum/config`)).json()).toMatchObject({
      name: 'sum',
      platform: 'torch_aoti',
      max_batch_size: 8,
      input: [
        { name: 'INPUT__0', data_type: 'TYPE_FP32', dims: [-1] },
        { name: 'INPUT__1', data_type: 'TYPE_FP32', dims: [-1] },
      ],
      output: [{ name: 'OUTPUT__0' }, { name: 'OUTPUT__1' }],
      dynamic_batching: { preferred_batch_size: [8] },
    });
    const body = JSON.stringify({ inputs: [{ name: 'x', datatype: 'BYTES', shape: [1], data: ['a'] }] });
    const answer = await fetch(`${server.url}/v2/models/strings/infer`, { method: 'POST', body });
    expect(answer.status).toBe(200);
  });

  test('whatever they are called: the content decides', async () => {
    const file = join(folder, 'renamed.bin');
    cpSync(add, file);
    await using server = await start(file);
    expect(server.engine.modelConfig('renamed.bin').platform).toBe('torch_aoti');
  });

  test('beside a repository', async () => {
    const repository = join(folder, 'repository');
    cpSync(join(testModel('golden_repository'), 'id_fp32'), join(repository, 'id_fp32'), { recursive: true });
    await using server = await start('--model-repository', repository, add);
    expect(server.models().map(({ name }) => name)).toEqual(['add', 'id_fp32']);
  });

  test('from where they are: nothing is copied, and nothing is left', async () => {
    const server = await start(add);
    expect(temporary()).toHaveLength(1);
    await server.stop();
    expect(temporary()).toEqual([]);
    expect(existsSync(add)).toBe(true);
  });
});

describe('a server does not start with a file', () => {
  test.each<[rule: string, argv: () => string[], says: string]>([
    ['that is not there', () => [join(folder, 'absent.pt2')], "absent.pt2': it does not exist"],
    [
      'that is a directory',
      () => [folder],
      'is a directory: give a model file, or a repository with --model-repository',
    ],
    ['that is no model', () => [join(testModel('archive_files'), 'state_dict.pt')], 'is a state dict'],
    ['that is a text', () => [text()], 'text.pt'],
    ['that does not tell enough', () => [addsub], 'failed to load all models'],
    ['with --disable-auto-complete-config', () => [add, '--disable-auto-complete-config'], 'failed to load all models'],
  ])('%s', async (_, argv, says) => {
    await expect(start(...argv())).rejects.toThrow(StartError);
    await expect(start(...argv())).rejects.toThrow(says);
    expect(temporary()).toEqual([]);
  });
});

function text(): string {
  const file = join(folder, 'text.pt');
  writeFileSync(file, 'no model');
  return file;
}
