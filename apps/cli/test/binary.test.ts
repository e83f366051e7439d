import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { examples } from './nereid.ts';

const BINARY = fileURLToPath(new URL('../bin/nereid.js', import.meta.url));
const config = join(examples, 'mlp', 'config.pbtxt');

const run = (argv: readonly string[], input = '') =>
  spawnSync(process.execPath, [BINARY, ...argv], {
    encoding: 'utf8',
    input,
    env: { ...process.env, NEREID_DEBUG: '' },
  });

describe('the built command', () => {
  it.each([
    { argv: ['--version'], status: 0 },
    { argv: ['config', config], status: 0 },
    { argv: ['inspect', join(examples, 'mlp')], status: 0 },
    { argv: ['inspect', '/nowhere'], status: 1 },
    { argv: ['bogus'], status: 2 },
    { argv: ['serve'], status: 2 },
  ])('$argv ends with $status', ({ argv, status }) => {
    expect(run(argv).status).toBe(status);
  });

  it('reads standard input, and prints without colour into a pipe', () => {
    const { status, stderr } = run(['config', '-'], 'x: 1');
    expect(status).toBe(1);
    expect(stderr).toContain('<stdin>:1:1: error: ModelConfig has no field `x`');
    expect(stderr).not.toContain('\u001b');
  });

  it('is content with a reader that stops reading', () => {
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', `"$0" "$1" inspect --json "$2" | true; echo done >&2`, process.execPath, BINARY, join(examples, 'nested')],
      {
        encoding: 'utf8',
      },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: 'done\n' });
  });

  it('serves what a file and the environment say until it is told to stop, and then ends with 0', {
    timeout: 60_000,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nereid-cli-'));
    const file = join(folder, 'nereid.yaml');
    writeFileSync(file, `model-repository: ${JSON.stringify(relative(folder, examples))}\nlog-format: json\n`);
    const child = spawn(process.execPath, [BINARY, 'serve', '--config', file, '--log-format', 'default'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NEREID_HTTP_PORT: '0' },
    });
    let printed = '';
    const url = await new Promise<string>((resolve, reject) => {
      const take = (chunk: Buffer) => {
        printed += chunk.toString();
        const found = /Started HTTPService at \S+ (http:\S+)/.exec(printed.replace(/: http/, ' http'))?.[1];
        if (found !== undefined) resolve(found);
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
      child.on('exit', () => reject(new Error(printed)));
    });
    expect(printed).toContain(`model-repository (${file}:1:1)`);
    expect(printed).toContain('http-port (NEREID_HTTP_PORT)');
    expect(printed).toMatch(/mlp +\| 1 +\| READY/);
    const answer = run(['infer', 'mlp', '--random', '--url', url]);
    expect(answer).toMatchObject({ status: 0, stderr: '' });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    rmSync(folder, { recursive: true });
  });
});
