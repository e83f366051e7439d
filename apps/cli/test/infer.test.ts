import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { tensor, testModel, usePython } from '@nereid/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { npyFile } from '../src/npy/write.ts';
import { examples, nereid, onDisk, type Run, type Surroundings } from './nereid.ts';
import { startQuietly } from './server.ts';

let server: Awaited<ReturnType<typeof startQuietly>>;

beforeAll(async () => {
  server = await startQuietly([examples, testModel('golden_repository')], ['grpc-port=0']);
}, 60_000);

afterAll(() => server.stop());

const infer = (argv: readonly string[], surroundings?: Surroundings): Promise<Run> =>
  nereid(['infer', '--url', server.url, ...argv], surroundings);

/** Without what the machine decides. */
const stable = (text: string) => text.replace(/[\d.]+ ms/, 'N ms');

async function answered(argv: readonly string[], surroundings?: Surroundings): Promise<string> {
  const { code, stdout, stderr } = await infer(argv, surroundings);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stable(stdout);
}

describe('the answer', () => {
  it('shows datatype, shape, range and first values of every output', async () => {
    const stdout = await answered([
      'addsub',
      '--input',
      'a=[[1,2,3]]',
      '--input',
      'b=[[1,1,1.5]]',
      '--model-version',
      '1',
    ]);
    expect(stdout).toMatchInlineSnapshot(`
      "addsub version 1, N ms
      OUTPUT__0 FP32 [1,3]  min 2  max 4.5  mean 3.16667
        2, 3, 4.5
      OUTPUT__1 FP32 [1,3]  min 0  max 1.5  mean 0.833333
        0, 1, 1.5
      "
    `);
  });

  it('shows strings as they are, escaped for a terminal', async () => {
    const stdout = await answered(['id_bytes', '--input', `words=${JSON.stringify(['a"b', '\u001b[31m', 'ü'])}`]);
    expect(stdout).toMatchInlineSnapshot(`
      "id_bytes version 1, N ms
      OUTPUT__0 BYTES [3]
        "a\\"b", "\\u001b[31m", "ü"
      "
    `);
  });

  it('shows 64-bit integers, booleans and half precision as what they are', async () => {
    expect(await answered(['id_int64', '--input', 'x=[9007199254740993, -1]'])).toContain('9007199254740993, -1');
    expect(await answered(['id_bool', '--input', 'x=[true, false]'])).toContain('true, false');
    expect(await answered(['id_fp16', '--input', 'x=[1.5, -2]'])).toContain('min -2  max 1.5');
  });

  it('counts NaN apart', async () => {
    expect(await answered(['id_fp32', '--input', 'x=[1, NaN, 3]'])).toContain('min 1  max 3  mean 2  NaN 1');
  });
});

describe('random inputs', () => {
  it.each(['mlp', 'nested', 'vision'])('are enough for the example %s', async (model) => {
    expect(await answered([model, '--random'])).toContain(`${model} version 1, N ms`);
  });

  it('give the same answer for the same seed', async () => {
    const first = await answered(['mlp', '--random', '--seed', '5']);
    expect(await answered(['mlp', '--random', '--seed', '5'])).toBe(first);
    expect(await answered(['mlp', '--random', '--seed', '6'])).not.toBe(first);
  });

  it('have as many rows as asked for', async () => {
    expect(await answered(['mlp', '--random', '--batch', '3'])).toContain('OUTPUT__0 FP32 [3,10]');
  });

  it('fill only what is not given', async () => {
    const stdout = await answered([
      'nested',
      '--random',
      '--input',
      'ARGS[0]=[[1,2,3,4]]',
      '--input',
      'ARGS[1]=[[-1,-2,-3,-4]]',
      '--output',
      'RESULT[AAA]',
    ]);
    expect(stdout).toContain('RESULT[AAA] FP32 [1,4]  min 0  max 0  mean 0');
    expect(stdout).not.toContain('ZZZ');
  });
});

describe('inputs', () => {
  const row = tensor({ name: '', values: [...Array(64).keys()], shape: [1, 64] });
  const json = JSON.stringify([...Array(64).keys()]);

  it('are the same from .npy, from a .json file, from JSON text, and from an object of values', async () => {
    using directory = onDisk({ 'x.npy': npyFile(row), 'x.json': json, 'all.json': `{"INPUT__0": ${json}}` });
    const file = (name: string) => join(directory.path, name);
    const fromText = await answered(['mlp', '--input', `INPUT__0=${json}`]);
    expect(await answered(['mlp', '--input', `INPUT__0=${file('x.npy')}`])).toBe(fromText);
    expect(await answered(['mlp', '--input', `INPUT__0=${file('x.json')}`])).toBe(fromText);
    expect(await answered(['mlp', '--json', file('all.json')])).toBe(fromText);
    expect(await answered(['mlp', '--json', '-'], { stdin: `{"INPUT__0": ${json}}` })).toBe(fromText);
  });

  it('may be a whole request, sent as it stands', async () => {
    const request = `{"id": "7", "inputs": [{"name": "INPUT__0", "datatype": "FP32", "shape": [1, 64], "data": ${json}}]}`;
    const stdout = await answered(['mlp', '--json', '-', '--raw-json'], { stdin: request });
    expect(JSON.parse(stdout)).toMatchObject({
      id: '7',
      model_name: 'mlp',
      outputs: [{ name: 'OUTPUT__0', shape: [1, 10] }],
    });
  });

  it.each<[rule: string, argv: string[], code: number, message: string]>([
    [
      'none',
      ['mlp'],
      2,
      'no input is given: use --input NAME=VALUE, --json FILE or --random. The model takes INPUT__0 FP32 [-1, 64]',
    ],
    ['a wrong name', ['mlp', '--input', 'INPUT_0=1'], 2, "the model has no input 'INPUT_0'; did you mean 'INPUT__0'?"],
    [
      'a name that is nowhere near',
      ['mlp', '--input', 'q=1'],
      2,
      "the model has no input 'q'; its inputs are INPUT__0",
    ],
    [
      'no name',
      ['mlp', '--input', '[1]'],
      2,
      "--input '[1]' has no name: write --input NAME=FILE.npy, NAME=FILE.json or NAME=JSON",
    ],
    ['one given twice', ['id_fp32', '--input', 'x=1', '--input', 'x=2'], 2, "input 'x' is given twice"],
    ['no JSON', ['mlp', '--input', 'INPUT__0=[1,'], 1, "the value of input 'INPUT__0' is no JSON: "],
    [
      'a file that is not there',
      ['mlp', '--input', 'INPUT__0=/none.npy'],
      1,
      "cannot read '/none.npy': it does not exist",
    ],
    [
      'no room for a batch',
      ['nested', '--random', '--batch', '2'],
      2,
      "--batch 2: input 'ARGS[0]' has no variable first dimension (shape [1, 4])",
    ],
  ])('are refused: %s', async (_, argv, code, message) => {
    const { stderr, ...run } = await infer(argv);
    expect(run).toEqual({ code, stdout: '' });
    expect(stderr).toContain(`nereid: ${message}`);
    expect(stderr.trimEnd()).not.toContain('\n');
  });

  it('of another datatype are refused with the remedy, but FP32 goes for BF16', async () => {
    using directory = onDisk({ 'x.npy': npyFile(tensor({ name: '', datatype: 'INT32', values: [1] })) });
    const { code, stderr } = await infer(['mlp', '--input', `INPUT__0=${join(directory.path, 'x.npy')}`]);
    expect(code).toBe(1);
    expect(stderr).toContain("x.npy' is INT32, but input 'INPUT__0' takes FP32; convert it with array.astype(…)");
  });

  it.each([
    ['[1]', 'must hold a request ({"inputs": […]}) or an object of values ({"NAME": […]})'],
    ['{"INPUT_0": 1}', "the model has no input 'INPUT_0'"],
    ['nonsense', 'standard input is no JSON: '],
  ])('as JSON are refused: %s', async (stdin, message) => {
    const { code, stderr } = await infer(['mlp', '--json', '-'], { stdin });
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
  });

  it('as a whole request cannot be changed', async () => {
    const { code, stderr } = await infer(['mlp', '--json', '-', '--random'], { stdin: '{"inputs": []}' });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'nereid: standard input is a whole request, which --random, --output and --show-batch cannot change; see nereid infer --help\n',
    });
  });
});

describe('outputs', () => {
  it('are written for numpy, each by its name', async () => {
    using directory = onDisk({});
    const results = join(directory.path, 'a', 'b');
    const stdout = await answered([
      'nested',
      '--random',
      '--output',
      'RESULT[AAA]',
      '--output',
      'RESULT[BBB][1]',
      '--output-dir',
      results,
    ]);
    expect(stdout).toContain(`written: ${join(results, 'RESULT[AAA].npy')}\n`);
    expect(readdirSync(results).sort()).toEqual(['RESULT[AAA].npy', 'RESULT[BBB][1].npy']);
    const script = 'import numpy, sys; a = numpy.load(sys.argv[1]); print(a.dtype, a.shape)';
    expect(execFileSync(usePython(), ['-c', script, join(results, 'RESULT[AAA].npy')]).toString()).toBe(
      'float32 (1, 4)\n',
    );
  });

  it('can be given back as inputs', async () => {
    using directory = onDisk({});
    await answered(['id_int64', '--input', 'x=[1, -9007199254740993]', '--output-dir', directory.path]);
    const [name = ''] = readdirSync(directory.path);
    expect(await answered(['id_int64', '--input', `x=${join(directory.path, name)}`])).toContain(
      '1, -9007199254740993',
    );
  });

  it('cannot be written where a file is in the way', async () => {
    using directory = onDisk({ file: '' });
    const { code, stderr } = await infer(['mlp', '--random', '--output-dir', join(directory.path, 'file')]);
    expect(code).toBe(1);
    expect(stderr).toContain(
      `cannot make the directory '${join(directory.path, 'file')}': a file of that name is in the way`,
    );
    expect(readFileSync(join(directory.path, 'file'), 'utf8')).toBe('');
  });

  it('are JSON with --raw-json', async () => {
    const stdout = await answered(['mlp', '--random', '--raw-json']);
    expect(stdout.trimEnd()).not.toContain('\n');
    expect(JSON.parse(stdout)).toMatchObject({ model_name: 'mlp', outputs: [{ datatype: 'FP32', shape: [1, 10] }] });
  });
});

describe('over gRPC', () => {
  const overGrpc = (...argv: readonly string[]) => nereid(['infer', ...argv, '--url', `grpc://${server.grpcPlace}`]);

  it('the answer is the same as over HTTP', async () => {
    const argv = ['mlp', '--random', '--seed', '5', '--batch', '3', '--output', 'OUTPUT__0'];
    const { code, stdout, stderr } = await overGrpc(...argv);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stable(stdout)).toBe(await answered(argv));
    const named = await nereid(['infer', ...argv, '--protocol', 'grpc', '--url', String(server.grpcPlace)]);
    expect(stable(named.stdout)).toBe(stable(stdout));
  });

  it('failures of the server are shown as they are', async () => {
    const { code, stderr } = await overGrpc('nope', '--random');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("the server answered NOT_FOUND: Request for unknown model: 'nope' is not found"),
    });
  });

  it.each([
    [['--raw-json'], 'requests and answers as JSON are for HTTP; gRPC has none'],
    [['--protocol', 'http'], 'is not for --protocol http; leave one of them out'],
  ])('%j is refused', async (argv, message) => {
    const { code, stderr } = await overGrpc('mlp', '--random', ...argv);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('errors of the server are shown as they are', () => {
  it.each<[argv: string[], message: string]>([
    [['nope', '--random'], "the server answered 404: Request for unknown model: 'nope' is not found"],
    [
      ['mlp', '--random', '--model-version', '7'],
      "the server answered 404: Request for unknown model: 'mlp' version 7 is not found",
    ],
    [['mlp', '--random', '--output', 'x'], 'the server answered 400: '],
    [['mlp', '--random', '--batch', '65'], 'inference request batch-size must be <= 64'],
  ])('%j', async (argv, message) => {
    const { code, stdout, stderr } = await infer(argv);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('what else may answer', () => {
  async function against(listener: RequestListener, ...argv: readonly string[]): Promise<Run> {
    const other = createServer(listener);
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    try {
      return await nereid([
        'infer',
        'm',
        '--random',
        '--url',
        `127.0.0.1:${(other.address() as AddressInfo).port}`,
        ...argv,
      ]);
    } finally {
      other.closeAllConnections();
      await new Promise((resolve) => other.close(resolve));
    }
  }

  it.each<[what: string, listener: RequestListener, argv: string[], message: RegExp]>([
    [
      'another kind of server',
      (_, response) => response.writeHead(404).end('<html>'),
      [],
      /answered 404: <html>; is it a server of the v2 inference protocol\?$/,
    ],
    [
      'an empty refusal',
      (_, response) => response.writeHead(502).end(),
      [],
      /answered 502; is it a server of the v2 inference protocol\?$/,
    ],
    [
      'something else than metadata',
      (_, response) => response.end('{}'),
      [],
      /the answer of http:\S+ is none of the v2 inference protocol: metadata of a model needs 'inputs' and 'outputs'/,
    ],
    [
      'a datatype of tomorrow',
      (_, response) => response.end('{"inputs":[{"name":"x","datatype":"FP4","shape":[1]}],"outputs":[]}'),
      [],
      /the server describes a tensor that is unknown here: \{"name":"x","datatype":"FP4","shape":\[1\]\}$/,
    ],
    [
      'a server that hangs up',
      (request) => request.socket.destroy(),
      [],
      /the connection to http:\/\/127\.0\.0\.1:\d+ failed: socket hang up$/,
    ],
    [
      'a server that says nothing',
      () => {},
      ['--timeout', '1'],
      /no answer from http:\S+ within 1 s; --timeout SECONDS waits longer$/,
    ],
    [
      'an answer that breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{', () => response.destroy());
      },
      [],
      /the connection to http:\S+ failed: aborted$/,
    ],
  ])('%s', async (_, listener, argv, message) => {
    const { code, stdout, stderr } = await against(listener, ...argv);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trimEnd()).toMatch(message);
  });

  it('nobody: then it is said how to start a server', async () => {
    expect(await nereid(['infer', 'm', '--random', '--url', '127.0.0.1:1'])).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'nereid: nothing listens at http://127.0.0.1:1; start a server with nereid serve --model-repository DIR, or name another with --url\n',
    });
  });
});
