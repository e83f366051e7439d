import { describe, expect, test } from 'vitest';
import { optionsFromFlags, readFlags, UsageError } from '../src/index.ts';

const read = (env: NodeJS.ProcessEnv, ...argv: string[]) => readFlags(argv, { env });

describe('a variable of an option', () => {
  test.each<[env: NodeJS.ProcessEnv, values: object]>([
    [{ NEREID_HTTP_PORT: '9000' }, { 'http-port': 9000 }],
    [{ NEREID_EXIT_ON_ERROR: 'ON' }, { 'exit-on-error': true }],
    [{ NEREID_DISABLE_AUTO_COMPLETE_CONFIG: '1' }, { 'disable-auto-complete-config': true }],
    [{ NEREID_DISABLE_AUTO_COMPLETE_CONFIG: 'false' }, { 'disable-auto-complete-config': false }],
    [{ NEREID_ID: '' }, { id: 'nereid' }],
    [{ NEREID_HTTP_PORT: 'tcp://10.0.0.1:8000', NEREID_PORT: 'tcp://10.0.0.1:1' }, { 'http-port': 8000 }],
    [{ NEREID_MODEL_REPOSITORY: 'a' }, { 'model-repository': ['a'] }],
    [{ NEREID_MODEL_STORE: 'a;b' }, { 'model-repository': ['a', 'b'] }],
    [{ NEREID_BACKEND_CONFIG: '["a=1;2", "b=3"]' }, { 'backend-config': ['a=1;2', 'b=3'] }],
    [{ NEREID_ALLOW_SAGEMAKER: 'whatever' }, { 'allow-sagemaker': undefined }],
  ])('%j', async (env, values) => {
    const { values: found, warnings } = await read(env);
    expect(found).toMatchObject(values);
    expect(warnings).toEqual([]);
  });

  test('of the original is read', async () => {
    const escapes = async (env: NodeJS.ProcessEnv) =>
      optionsFromFlags(await read(env, '--model-repository=m')).options.log.escapes;
    expect(await escapes({})).toBe(true);
    expect(await escapes({ TRITON_SERVER_ESCAPE_LOG_MESSAGES: '0' })).toBe(false);
    const { options } = optionsFromFlags(
      await read({ OTEL_BSP_MAX_QUEUE_SIZE: '7' }, '--model-repository=m', '--trace-config=mode=opentelemetry'),
    );
    expect(JSON.stringify(options.trace)).toContain('7');
  });

  test('counts as given, in other words than the command line', async () => {
    const { given, sources } = await read({ NEREID_HTTP_PORT: '1', NEREID_ID: 'x' }, '--id=y');
    expect([...given].sort()).toEqual(['http-port', 'id']);
    expect([...sources]).toEqual([['http-port', 'NEREID_HTTP_PORT']]);
  });

  test.each<[env: NodeJS.ProcessEnv, message: string]>([
    [{ NEREID_HTTP_PORT: '70000' }, "NEREID_HTTP_PORT takes a whole number from 0 to 65535, got '70000'"],
    [{ NEREID_LOG_INFO: 'yes' }, "NEREID_LOG_INFO takes true or false (or on, off, 1, 0), got 'yes'"],
    [{ NEREID_LOG_FORMAT: 'xml' }, 'NEREID_LOG_FORMAT takes one of auto, default, ISO8601, json'],
    [{ NEREID_MODEL_REPOSITORY: 'a;;b' }, 'NEREID_MODEL_REPOSITORY needs a value that is not empty'],
    [
      { NEREID_MODEL_REPOSITORY: '[1]' },
      'NEREID_MODEL_REPOSITORY begins like a list in JSON and is no list of strings',
    ],
    [{ NEREID_MODEL_REPOSITORY: '[a' }, "got '[a'"],
    [
      { NEREID_MODEL_REPOSITORY: 'a', NEREID_MODEL_STORE: 'b' },
      'NEREID_MODEL_REPOSITORY and NEREID_MODEL_STORE are one option',
    ],
  ])('%j is refused by its name', async (env, message) => {
    await expect(read(env)).rejects.toThrow(UsageError);
    await expect(read(env)).rejects.toThrow(message);
  });

  test('with a bad value that is found later is named too', async () => {
    const flags = await read({ NEREID_MODEL_REPOSITORY: 'm', NEREID_BACKEND_CONFIG: 'x' });
    expect(() => optionsFromFlags(flags)).toThrow(
      "option '--backend-config' takes backend,key=value or key=value, got 'x'; --backend-config is set by NEREID_BACKEND_CONFIG",
    );
  });

  test.each([
    ['NEREID_HTTP_PROT', ['NEREID_HTTP_PROT is no variable of an option; did you mean NEREID_HTTP_PORT?']],
    ['NEREID_MODEL_REPOSITORIES', [expect.stringContaining('did you mean NEREID_MODEL_REPOSITORY?')]],
    ['NEREID_PYTHON', []],
    ['NEREID_HTTP_SERVICE_PORT', []],
    ['NEREID_HTTP_PORT_8000_TCP_ADDR', []],
    ['NEREID_LIBTORCH', []],
    ['NEREID_SOMETHING_ELSE_ALTOGETHER', []],
  ])('that is none is told when it resembles one: %s', async (variable, warnings) => {
    expect((await read({ [variable]: '1' })).warnings).toEqual(warnings);
    expect(optionsFromFlags(await read({ [variable]: '1' }, '--model-repository=m')).warnings).toEqual(warnings);
  });
});
