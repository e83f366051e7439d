import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { usePython } from '@nereid/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createModelConfig,
  type ModelConfig,
  modelConfigFromMessage,
  modelConfigToJson,
  modelConfigToMessage,
  modelConfigToText,
  modelConfigType,
  parseModelConfig,
} from '../src/index.ts';
import { arbitraryConfig } from './arbitrary-config.ts';

const RUNS = { seed: 20_240, numRuns: 100 };

function encode(config: ModelConfig): Uint8Array {
  return modelConfigType().encode(modelConfigToMessage(config)).finish();
}

describe('round trip of any configuration', () => {
  it('through text', () => {
    const holds = (config: ModelConfig) => {
      expect(parseModelConfig(modelConfigToText(config))).toMatchObject({ config, diagnostics: [] });
    };
    fc.assert(fc.property(arbitraryConfig, holds), RUNS);
  });

  it('through JSON, on one line and indented', () => {
    const holds = (config: ModelConfig, indent: number) => {
      const text = modelConfigToJson(config, { indent });
      expect(parseModelConfig(text, { format: 'json' })).toMatchObject({ config, diagnostics: [] });
    };
    fc.assert(fc.property(arbitraryConfig, fc.constantFrom(0, 2), holds), RUNS);
  });

  it('through the binary message', () => {
    const holds = (config: ModelConfig) => {
      const message = modelConfigType().decode(encode(config));
      expect(modelConfigFromMessage(message)).toEqual({ config, problems: [] });
    };
    fc.assert(fc.property(arbitraryConfig, holds), RUNS);
  });

  it('through createModelConfig, which changes nothing that is complete', () => {
    const holds = (config: ModelConfig) => {
      expect(createModelConfig(config)).toEqual(config);
    };
    fc.assert(fc.property(arbitraryConfig, holds), RUNS);
  });

  it('in the eyes of protobuf: text, JSON and binary form read as the same message', () => {
    const configs = fc.sample(arbitraryConfig, RUNS);
    const rows = configs.map((config) =>
      JSON.stringify({
        text: modelConfigToText(config),
        json: modelConfigToJson(config),
        binary: Buffer.from(encode(config)).toString('base64'),
      }),
    );
    const script = fileURLToPath(new URL('round-trip.py', import.meta.url));
    const answer = execFileSync(usePython(), [script], { encoding: 'utf8', input: rows.join('\n') });
    expect(answer.trim().split('\n')).toEqual(configs.map(() => 'same'));
  });
});
