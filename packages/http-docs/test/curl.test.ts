import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { curlCommand } from '../src/page/curl.ts';
import { inferBody, jsonProblem } from '../src/page/infer-body.ts';

const shell = (command: string) =>
  execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }; ${command}`], { encoding: 'utf8' });

describe('the curl command', () => {
  it('gives a shell back what it was made of, whatever the signs', () => {
    const body = `{"it's": "$HOME \`x\` \\\\ \\" é"}`;
    const command = curlCommand({ url: "http://h/v2/models/it's", body, headers: [['key', "s'3"]] });
    expect(shell(command)).toBe(
      ["http://h/v2/models/it's", '-H', 'content-type: application/json', '-H', "key: s'3", '-d', body, ''].join('\n'),
    );
  });

  it('reads a long body from a file, and shows a stream as it comes', () => {
    const command = curlCommand({ url: 'http://h/', body: 'x'.repeat(5000), headers: [], isStream: true });
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
});

describe('the body of an inference', () => {
  const input = { name: 'a"b', datatype: 'INT64', shape: [1], data: '[9007199254740993]' };

  it('has the values as they were written', () => {
    expect(inferBody([input], '{"priority": 1}')).toBe(
      '{"parameters":{"priority": 1},"inputs":[{"name":"a\\"b","datatype":"INT64","shape":[1],"data":[9007199254740993]}]}',
    );
    expect(inferBody([], ' ')).toBe('{"inputs":[]}');
  });

  it('is checked in its parts', () => {
    expect(jsonProblem('[1]', 'array')).toBeUndefined();
    expect(jsonProblem('{}', 'object')).toBeUndefined();
    expect(jsonProblem('{}', 'array')).toBe('expected a JSON array');
    expect(jsonProblem('null', 'object')).toBe('expected a JSON object');
    expect(jsonProblem('[1,]', 'array')).toMatch(/^is no JSON: /);
  });
});
