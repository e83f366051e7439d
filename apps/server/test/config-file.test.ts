import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NAMES } from '../src/flags/names.ts';
import { optionsFromFlags, readFlags, UsageError } from '../src/index.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nereid-options-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Options of a file, with a command line and an environment before it. */
async function read(text: string, { argv = [], env = {} }: { argv?: string[]; env?: NodeJS.ProcessEnv } = {}) {
  const file = join(folder, 'nereid.yaml');
  writeFileSync(file, text);
  return await readFlags([`--config=${file}`, ...argv], { env });
}

/** What is wrong with it, without the folder. */
async function faults(text: string): Promise<readonly string[]> {
  const thrown: unknown = await read(text).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(UsageError);
  return (thrown as UsageError).message.replaceAll(`${folder}/`, '').split('\n');
}

describe('a file of options', () => {
  test.each<[text: string, values: object]>([
    ['http-port: 9000\nid: mine', { 'http-port': 9000, id: 'mine' }],
    ['{\n\t"http-port": 9000,\n\t"$schema": "config.schema.json"\n}', { 'http-port': 9000 }],
    ['', { 'http-port': 8000 }],
    ['# nothing\n', { 'http-port': 8000 }],
    ['id: 007', { id: '007' }],
    ['log-verbose: true', { 'log-verbose': 'true' }],
    ['exit-on-error: on\nstrict-readiness: False', { 'exit-on-error': true, 'strict-readiness': false }],
    ['http-port: "9000"', { 'http-port': 9000 }],
    ['log-format: iso8601', { 'log-format': 'ISO8601' }],
    ['disable-auto-complete-config: true', { 'disable-auto-complete-config': true }],
    ['disable-auto-complete-config: false', { 'disable-auto-complete-config': false }],
    ['model-name: a', { 'model-name': ['a'] }],
    ['model-name: [a, b]', { 'model-name': ['a', 'b'] }],
    ['allow-client-shm: true', { 'allow-shared-memory': true }],
    ['first: &port 9000\nhttp-port: *port'.replace('first', 'grpc-port'), { 'grpc-port': 9000, 'http-port': 9000 }],
    ['allow-sagemaker: {any: [thing]}', { 'allow-sagemaker': undefined }],
  ])('%j', async (text, values) => {
    expect((await read(text)).values).toMatchObject(values);
  });

  test.each<[text: string, values: readonly string[]]>([
    ['backend-config: default-max-batch-size=8', ['default-max-batch-size=8']],
    ['backend-config: {default-max-batch-size: 8}', ['default-max-batch-size=8']],
    ['backend-config: {a: 1, pytorch: {b: 2, c: 3}}', ['a=1', 'pytorch,b=2', 'pytorch,c=3']],
    ['backend-config: [a=1, {pytorch: {b: [2, 3]}}]', ['a=1', 'pytorch,b=2', 'pytorch,b=3']],
  ])('%j is a setting for each value', async (text, values) => {
    expect((await read(text)).values['backend-config']).toEqual(values);
  });

  test.each<
    [text: string, name: 'trace-config' | 'rate-limit-resource' | 'http-restricted-api', values: readonly string[]]
  >([
    [
      'trace-config:\n  level: [TIMESTAMPS, TENSORS]\n  rate: 1\n  opentelemetry: {resource: {service.name: x}}',
      'trace-config',
      ['level=TIMESTAMPS', 'level=TENSORS', 'rate=1', 'opentelemetry,resource=service.name=x'],
    ],
    ['rate-limit-resource: {R1: 4, R2: "2:0"}', 'rate-limit-resource', ['R1:4', 'R2:2:0']],
    ['http-restricted-api: {"health,metadata": "key=a=b"}', 'http-restricted-api', ['health,metadata:key=a=b']],
  ])('%j has maps as each option writes them', async (text, name, values) => {
    expect((await read(text)).values[name]).toEqual(values);
  });

  test('has paths relative to itself, URLs as they are', async () => {
    const text = `model-repository: [models, /abs, "s3://bucket/models"]
http-server-cert: ../tls/cert.pem
log-file: log
http-address: unix:run/http.sock
grpc-address: 127.0.0.1
trace-config: {triton: {file: traces.json}}`;
    expect((await read(text)).values).toMatchObject({
      'model-repository': [join(folder, 'models'), '/abs', 's3://bucket/models'],
      'http-server-cert': resolve(folder, '../tls/cert.pem'),
      'log-file': join(folder, 'log'),
      'http-address': `unix:${join(folder, 'run/http.sock')}`,
      'grpc-address': '127.0.0.1',
      'trace-config': [`triton,file=${join(folder, 'traces.json')}`],
    });
  });

  test.each<[text: string, faults: readonly string[]]>([
    ['http-prot: 1', ["nereid.yaml:1:1: unknown option 'http-prot'; did you mean 'http-port'?"]],
    ['http_port: 1', ["nereid.yaml:1:1: unknown option 'http_port'; did you mean 'http-port'?"]],
    ['zzz: 1', ["nereid.yaml:1:1: unknown option 'zzz'"]],
    ['http-port: 70000', ["nereid.yaml:1:12: http-port takes a whole number from 0 to 65535, got '70000'"]],
    ['http-port: 8e3', ["nereid.yaml:1:12: http-port takes a whole number from 0 to 65535, got '8e3'"]],
    [
      'id: x\nexit-on-error: yes',
      ["nereid.yaml:2:16: exit-on-error takes true or false (or on, off, 1, 0), got 'yes'"],
    ],
    ['log-format: xml', ["nereid.yaml:1:13: log-format takes one of auto, default, ISO8601, json, got 'xml'"]],
    ['http-port:', ['nereid.yaml:1:11: http-port needs a value']],
    ['id: ""', ['nereid.yaml:1:5: id needs a value that is not empty']],
    ['id: [a]', ['nereid.yaml:1:5: id takes one value here, found a list']],
    ['model-name: {a: b}', ['nereid.yaml:1:13: model-name takes one value here, found a map']],
    ['metrics-config: {a: {b: 1}}', ['nereid.yaml:1:21: metrics-config takes one value here, found a map']],
    ['- a', ['nereid.yaml:1:1: a configuration is a map from names of options to values']],
    ['config: other.yaml', ['nereid.yaml:1:1: a configuration cannot name another one']],
    ['id: a\nid: b', ['nereid.yaml:2:1: Map keys must be unique']],
    ['model-store: a\nmodel-repository: b', ["nereid.yaml:2:1: 'model-repository' is set already, at nereid.yaml:1:1"]],
    ['id: *none', ['nereid.yaml:1:5: nothing is named &none']],
    ['{"id": "a"', [expect.stringMatching(/^nereid.yaml:1:\d+: .*}/)]],
    ['id: !tag x', ['nereid.yaml:1:5: Unresolved tag: !tag']],
    [
      'http-prot: 1\nhttp-port: x\ngrpc-port: y',
      [
        expect.stringContaining('nereid.yaml:1:1: '),
        expect.stringContaining('nereid.yaml:2:12: '),
        expect.stringContaining('nereid.yaml:3:12: '),
      ],
    ],
  ])('%j is refused', async (text, expected) => {
    expect(await faults(text)).toEqual(expected);
  });

  test('of any text is options, or faults with their places', async () => {
    const scalar = fc.oneof(
      fc.constantFrom('true', '7', '~', '*a', '&a x', '!t x', '"q"', '|', '<<', '?'),
      fc.string(),
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ depthSize: 'small' }, scalar, tie('list'), tie('map')),
      list: fc.array(tie('any'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      map: fc
        .array(fc.tuple(scalar, tie('any')), { maxLength: 3 })
        .map((all) => `{${all.map(([k, v]) => `${k}: ${v}`).join(', ')}}`),
    })).any;
    const key = fc.oneof(fc.constantFrom(...NAMES), scalar);
    const line = fc.tuple(key, value).map(([name, text]) => `${name}: ${text}`);
    const text = fc.oneof(
      fc.array(line, { maxLength: 4 }).map((lines) => lines.join('\n')),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        try {
          expect((await read(content)).given.has('config')).toBe(true);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(UsageError);
          for (const fault of (thrown as UsageError).message.split(/\n(?=\/)/))
            expect(fault).toMatch(/nereid\.yaml:\d+:\d+: ./);
        }
      }),
      { seed: 5, numRuns: 200 },
    );
  });

  test('of a size that no file of options has is refused before it is read as YAML', async () => {
    expect(await faults(`id: ${'x'.repeat(1024 * 1024)}`)).toEqual([
      "option '--config': 'nereid.yaml' has more than 1048576 bytes, the most that a file of options may have; is it the right file?",
    ]);
    await expect(readFlags(['--config', '/dev/zero'], { env: {} })).rejects.toThrow(
      "'/dev/zero' has more than 1048576 bytes",
    );
  });

  test('that cannot be read is named', async () => {
    const absent = join(folder, 'absent.yaml');
    await expect(readFlags(['--config', absent], { env: {} })).rejects.toThrow(
      `ENOENT: no such file or directory, open '${absent}'`,
    );
  });

  test('of the documentation is read', async () => {
    const page = readFileSync(new URL('../../../docs/options.md', import.meta.url), 'utf8');
    const [, text = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
    const { options, warnings } = optionsFromFlags(await read(text));
    expect(warnings).toEqual([]);
    expect(options).toMatchObject({ exitOnError: true, defaultMaxBatchSize: 8, http: { address: '0.0.0.0' } });
    expect(options.trace).toMatchObject({ file: join(folder, 'traces/requests.json'), values: { rate: 100 } });
  });

  test('is everything a server needs', async () => {
    const { options, warnings } = optionsFromFlags(await read('model-repository: models\nhttp-port: 0'));
    expect(options).toMatchObject({ repositories: [join(folder, 'models')], http: { port: 0 }, grpc: { port: 0 } });
    expect(warnings).toEqual([]);
  });
});

describe('of several places', () => {
  test('the command line goes before the environment, that before the file, that before the default', async () => {
    const text = 'id: file\nhttp-port: 1\ngrpc-port: 2';
    const { values } = await read(text, { argv: ['--id=line'], env: { NEREID_ID: 'variable', NEREID_HTTP_PORT: '3' } });
    expect(values).toMatchObject({ id: 'line', 'http-port': 3, 'grpc-port': 2, 'metrics-port': 8002 });
  });

  test('a list takes the place of another', async () => {
    const { values } = await read('model-repository: [a, b]', { argv: ['--model-repository=/c'] });
    expect(values['model-repository']).toEqual(['/c']);
  });

  test('the environment names the file as well', async () => {
    const file = join(folder, 'other.json');
    writeFileSync(file, '{"id": "mine"}');
    expect((await readFlags([], { env: { NEREID_CONFIG: file } })).values.id).toBe('mine');
  });

  test('what does not go together is told with where it was set', async () => {
    const flags = await read('model-repository: m\nhttp-port: 9000', { env: { NEREID_GRPC_PORT: '9000' } });
    expect(() => optionsFromFlags(flags)).toThrow(
      'HTTP and gRPC are to be served at the same address and port (127.0.0.1:9000): choose another --grpc-port; --grpc-port is set by NEREID_GRPC_PORT',
    );
  });

  test('so is what has no effect', async () => {
    const { warnings } = optionsFromFlags(await read('model-repository: m\nallow-sagemaker: true'));
    expect(warnings).toEqual([
      expect.stringMatching(/^--allow-sagemaker has no effect: .*; --allow-sagemaker is set by .*nereid.yaml:2:1$/),
    ]);
  });
});
