import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { curlCommand } from '../src/page/curl.ts';
import { jsonBody } from '../src/page/server.ts';

const shell = (command: string) =>
  execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }; ${command}`], { encoding: 'utf8' });

describe('the curl command', () => {
  it('gives a shell back what it was made of, whatever the signs', () => {
    const body = `{"it's": "$HOME \`x\` \\\\ \\" é"}`;
    const command = curlCommand({ url: "http://h/v2/models/it's", body: jsonBody(body), headers: [['key', "s'3"]] });
    expect(shell(command)).toBe(
      ["http://h/v2/models/it's", '-H', 'content-type: application/json', '-H', "key: s'3", '-d', body, ''].join('\n'),
    );
  });

  it('reads a long body from a file, and shows a stream as it comes', () => {
    const command = curlCommand({ url: 'http://h/', body: jsonBody('x'.repeat(5000)), headers: [], isStream: true });
    expect(shell(command).split('\n')).toEqual([
      '-N',
      'http://h/',
      '-H',
      'content-type: application/json',
      '--data-binary',
      '@request.json',
      '',
    ]);
  });

  it('reads tensors as bytes from a file, and tells where the JSON ends', () => {
    const body = { head: '{"é":1}', blobs: [new Uint8Array(2)] };
    expect(shell(curlCommand({ url: 'http://h/', body, headers: [] })).split('\n')).toEqual([
      'http://h/',
      '-H',
      'content-type: application/octet-stream',
      '-H',
      'inference-header-content-length: 8',
      '--data-binary',
      '@request.bin',
      '',
    ]);
  });
});
