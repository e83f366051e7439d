import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { nereid } from './nereid.ts';

const COMMANDS = ['serve', 'init', 'check', 'inspect', 'config', 'infer', 'stats', 'weights', 'doctor'];

describe('help', () => {
  it('is what no arguments print, on standard output', async () => {
    const { code, stdout, stderr } = await nereid([]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
    expect(await nereid(['--help'])).toEqual({ code, stdout, stderr });
    expect(await nereid(['help'])).toEqual({ code, stdout, stderr });
  });

  it.each(COMMANDS)('of %s has examples, and is the same in both spellings', async (command) => {
    const { code, stdout } = await nereid([command, '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: nereid ${command}`);
    expect(stdout).toContain(`  $ nereid ${command}`);
    expect(await nereid(['help', command])).toEqual({ code, stdout, stderr: '' });
  });

  it('of serve has the options of the server', async () => {
    const { stdout } = await nereid(['serve', '--model-repository', 'x', '-h']);
    expect(stdout).toContain('--model-repository');
    expect(stdout).toContain('--http-port');
  });

  it.each<[argv: string[], inside: string[], outside: string[]]>([
    [
      ['--help', 'timeout'],
      ['--exit-timeout-secs', '--http-headers-timeout-ms'],
      ['--model-repository', 'Usage'],
    ],
    [['--help', 'NEREID_HTTP_PORT'], ['--http-port=N'], ['--http-address', 'gRPC:']],
    [['--help', 'ping'], ['gRPC:', '--grpc-keepalive-time', '--grpc-http2-max-ping-strikes=N'], ['HTTP:']],
    [['--help', 'json', 'schema'], ['Process:', '--config=FILE'], ['--log-format']],
    [['--help=gRPC', '--id=x'], ['gRPC:', '--grpc-port'], ['--metrics-port']],
    [['-h', 'listen', 'ipv6'], ['--http-address'], ['--http-port', '--metrics-address']],
    [['--help', 'vertex'], ['Accepted without effect:', '--allow-vertex-ai'], ['Models:']],
  ])('of serve %j tells the options that have to do with it', async (argv, inside, outside) => {
    const { code, stdout } = await nereid(['serve', ...argv]);
    expect(code).toBe(0);
    for (const text of inside) expect(stdout).toContain(text);
    for (const text of outside) expect(stdout).not.toContain(text);
  });

  it('of serve has the schema of files of options', async () => {
    const { code, stdout } = await nereid(['serve', '--config-schema']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ properties: { 'http-port': { type: 'integer', maximum: 65_535 } } });
  });

  it('of serve about what no option has to do with is wrong usage', async () => {
    const { code, stderr } = await nereid(['serve', '--help', 'zebra']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "nereid: no option of serve has to do with 'zebra'; see nereid serve --help\n",
    });
  });
});

it('knows its version', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  expect(await nereid(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

describe('wrong usage is one line and exit code 2', () => {
  it.each<[argv: string, message: string]>([
    ['bogus', "unknown command 'bogus'; see nereid --help"],
    ['inspct model.pt2', "unknown command 'inspct' (Did you mean inspect?); see nereid --help"],
    ['bogus --help', "unknown command 'bogus'; see nereid --help"],
    ['help inspct', "unknown command 'inspct' (Did you mean inspect?); see nereid --help"],
    ['--bogus', "unknown option '--bogus'; see nereid --help"],
    ['inspect', "missing required argument 'path'; see nereid inspect --help"],
    ['inspect a b', "too many arguments for 'inspect'. Expected 1 argument but got 2; see nereid inspect --help"],
    ['inspect a --jsn', "unknown option '--jsn' (Did you mean --json?); see nereid inspect --help"],
    ['inspect a --json --config', "option '--config' cannot be used with option '--json'; see nereid inspect --help"],
    ['inspect a --model', "option '--model <name>' argument missing; see nereid inspect --help"],
    ['config', "missing required argument 'file'; see nereid config --help"],
    ['config a --format --json', "option '--format' cannot be used with option '--json'; see nereid config --help"],
    ['config a --write', '--write goes with --format; see nereid config --help'],
    ['config - --format --write', '--write needs a file, not standard input; see nereid config --help'],
    ['infer', "missing required argument 'model'; see nereid infer --help"],
    [
      'infer m --url ftp://x',
      "--url 'ftp://x' is no address; give one like http://127.0.0.1:8000; see nereid infer --help",
    ],
    [
      'infer m --url a:b:c',
      "--url 'a:b:c' is no address; give one like http://127.0.0.1:8000; see nereid infer --help",
    ],
    [
      'infer m --model-version x',
      "option '--model-version <n>' argument 'x' is invalid. A version is a whole number; see nereid infer --help",
    ],
    [
      'infer m --batch 0',
      "option '--batch <n>' argument '0' is invalid. It must be a whole number from 1 to 2147483647; see nereid infer --help",
    ],
    [
      'infer m --json a --input b=1',
      "option '--json <file>' cannot be used with option '--input <name=value>'; see nereid infer --help",
    ],
    [
      'infer m --raw-json --output-dir a',
      "option '--raw-json' cannot be used with option '--output-dir <dir>'; see nereid infer --help",
    ],
    [
      'serve',
      '--model-repository must be specified: name the directory that holds the models, or give a model file; see nereid serve --help',
    ],
    ['serve --bogus', "unknown option '--bogus'; see nereid serve --help"],
    ['serve --http-prot=1', "unknown option '--http-prot'; did you mean '--http-port'?; see nereid serve --help"],
    ['serve -x', "unexpected argument '-x': options begin with --; see nereid serve --help"],
    [
      'serve a/m.pt b/m.pt',
      "two files would be served as model 'm': give a --model-name for each FILE; see nereid serve --help",
    ],
  ])('%s', async (argv, message) => {
    expect(await nereid(argv.split(' '))).toEqual({ code: 2, stdout: '', stderr: `nereid: ${message}\n` });
  });
});

describe('what goes wrong', () => {
  it('is one line without a stack, and with NEREID_DEBUG=1 a stack', async () => {
    const quiet = await nereid(['inspect', '/nowhere']);
    expect(quiet).toEqual({ code: 1, stdout: '', stderr: "nereid: cannot read '/nowhere': it does not exist\n" });
    const { code, stderr } = await nereid(['inspect', '/nowhere'], { env: { NEREID_DEBUG: '1' } });
    expect(code).toBe(1);
    expect(stderr.startsWith(quiet.stderr)).toBe(true);
    expect(stderr).toMatch(/^ {4}at /m);
  });

  it('cannot send control sequences to the terminal', async () => {
    const { stderr } = await nereid(['inspect', '/now\u001b[31mhere']);
    expect(stderr).toBe("nereid: cannot read '/now\\u001b[31mhere': it does not exist\n");
  });
});

describe('colour', () => {
  it.each([
    { terminal: true, env: {}, colored: true },
    { terminal: true, env: { NO_COLOR: '' }, colored: true },
    { terminal: true, env: { NO_COLOR: '1' }, colored: false },
    { terminal: false, env: {}, colored: false },
  ])('is $colored on a terminal ($terminal) with $env', async ({ terminal, env, colored }) => {
    const { stderr } = await nereid(['inspect', '/nowhere'], { terminal, env });
    expect(stderr.includes('\u001b[')).toBe(colored);
  });
});
