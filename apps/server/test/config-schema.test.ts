import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { configSchema } from '../src/index.ts';

const schema = new Ajv({ allowUnionTypes: true }).compile(configSchema());

test('the published schema is that of the table (vitest run -u writes it anew)', async () => {
  const text = `${JSON.stringify(configSchema(), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../config.schema.json');
  const { exports, files } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect([exports['./config.schema.json'], files]).toEqual([
    './config.schema.json',
    expect.arrayContaining(['config.schema.json']),
  ]);
});

describe('the schema', () => {
  test('takes the example of the documentation', () => {
    const page = readFileSync(new URL('../../../docs/options.md', import.meta.url), 'utf8');
    expect(schema(parse(/```yaml\n(.*?)```/s.exec(page)?.[1] ?? ''))).toBe(true);
  });

  test.each([
    [{}],
    [{ $schema: 'config.schema.json', 'model-repository': 'models', 'http-port': 0, 'exit-on-error': true }],
    [{ 'model-repository': ['a', 'b'], 'log-verbose': 1, 'log-format': 'json', 'disable-auto-complete-config': true }],
    [{ 'backend-config': { 'default-max-batch-size': 8, pytorch: { a: [1, 'b'] } } }],
    [{ 'trace-config': ['rate=1', { level: ['TIMESTAMPS'], opentelemetry: { resource: { 'service.name': 'x' } } }] }],
    [{ 'allow-client-shm': true, 'allow-sagemaker': [1, { x: null }] }],
  ])('takes %j', (value) => {
    expect([schema(value), schema.errors]).toEqual([true, null]);
  });

  test.each([
    [{ 'http-prot': 1 }, 'must NOT have additional properties'],
    [{ 'http-port': '8000' }, 'must be integer'],
    [{ 'http-port': 70_000 }, 'must be <= 65535'],
    [{ 'exit-on-error': 'yes' }, 'must be boolean'],
    [{ 'log-format': 'xml' }, 'must be equal to one of the allowed values'],
    [{ id: ['a'] }, 'must be string,number,boolean'],
    [{ 'metrics-config': { a: { b: 1 } } }, 'must be'],
    [{ config: 'other.yaml' }, 'must NOT have additional properties'],
  ])('refuses %j', (value, message) => {
    expect(schema(value)).toBe(false);
    expect(schema.errors?.map((error) => error.message).join()).toContain(message);
  });
});
