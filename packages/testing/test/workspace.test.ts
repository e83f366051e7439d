import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testModel, usePython } from '../src/index.ts';

it.each(['addsub', 'identity'])('finds the exported test model %s', (name) => {
  expect(existsSync(join(testModel(name), 'model.pt'))).toBe(true);
});

it('says how to export a test model that is not there', () => {
  expect(() => testModel('no-such-model')).toThrow('run: python3 scripts/export_models.py no-such-model');
});

it('finds the Python of the set-up', () => {
  expect(execFileSync(usePython(), ['-c', 'print(6 * 7)'], { encoding: 'utf8' })).toBe('42\n');
});
