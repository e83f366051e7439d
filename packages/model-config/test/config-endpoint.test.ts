import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { modelConfigToJson, prepareModelConfig } from '../src/index.ts';

const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');

/** The original leaves the dims of an initial state as text; ours are numbers, as everywhere else. */
const numbersForText = (json: string) => json.replace('"dims":["1"]', '"dims":[1]');

it.each(['addsub', 'running', 'classes'])(
  'prints the configuration of %s byte for byte as the original does',
  (name) => {
    const files = [{ name: 'model.pt', isDirectory: false }];
    const { config, diagnostics } = prepareModelConfig(fixture(`${name}.pbtxt`), { directoryName: name, files });
    expect(diagnostics).toEqual([]);
    expect(config && modelConfigToJson(config)).toBe(
      numbersForText(JSON.stringify(JSON.parse(fixture(`${name}.json`)))),
    );
  },
);
