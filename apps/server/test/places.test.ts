/** Whatever place an option is set in: the same values, the same refusals. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Flag } from '../src/flags/flag.ts';
import { FLAGS, type FlagName } from '../src/flags/table.ts';
import { readFlags } from '../src/index.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nereid-places-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const PLACES = {
  line: (name: string, text: string) => readFlags([`--${name}=${text}`], { env: {} }),
  environment: (name: string, text: string) =>
    readFlags([], { env: { [`NEREID_${name.replaceAll('-', '_').toUpperCase()}`]: text } }),
  file: (name: string, text: string) => {
    const file = join(folder, 'options.yaml');
    writeFileSync(file, `${name}: ${text}\n`);
    return readFlags(['--config', file], { env: {} });
  },
};

/** Values that the option takes, and one that it does not. */
function samples(flag: Flag): { readonly good: readonly string[]; readonly bad: string | undefined } {
  switch (flag.kind) {
    case 'bool':
    case 'flag':
      return { good: ['true', 'off', '1'], bad: 'maybe' };
    case 'int':
      return { good: [String(flag.min), String(flag.max), String(flag.default)], bad: String(flag.min - 1) };
    case 'float':
      return { good: [String(flag.min), String(flag.min + 0.5)], bad: 'x' };
    case 'choice':
      return { good: flag.choices, bad: 'nosuch' };
    case 'string':
    case 'list':
      return { good: ['/a', 'http://b', '7'].slice(0, flag.path === '' ? 2 : 3), bad: undefined };
    case 'any':
      return { good: ['x'], bad: undefined };
    default:
      return flag satisfies never;
  }
}

const NAMES = (Object.keys(FLAGS) as FlagName[]).filter((name) => name !== 'config');

test.each(NAMES)('--%s', async (name) => {
  const { good, bad } = samples(FLAGS[name]);
  for (const text of good) {
    const [first, ...others] = await Promise.all(Object.values(PLACES).map((read) => read(name, text)));
    expect(first?.given.has(name)).toBe(true);
    for (const { values } of others) expect(values[name], text).toEqual(first?.values[name]);
  }
  if (bad === undefined) return;
  for (const read of Object.values(PLACES)) await expect(read(name, bad)).rejects.toThrow(`got '${bad}'`);
});
