import { expect, it, vi } from 'vitest';
import { modelConfigToText, prepareModelConfig } from '../src/index.ts';

it('reads, checks and prints where generating code from text is forbidden', () => {
  const refuse = () => {
    throw new EvalError('code generation from strings is disallowed');
  };
  vi.stubGlobal('Function', new Proxy(Function, { apply: refuse, construct: refuse }));
  const text =
    'output [ { name: "y" data_type: TYPE_FP32 dims: [ 1 ] } ] parameters { key: "NUM_THREADS" value { string_value: "1" } }';
  const files = [{ name: 'model.pt', isDirectory: false }];
  const { config, diagnostics } = prepareModelConfig(text, { directoryName: 'm', files });
  expect(diagnostics).toEqual([]);
  expect(config && modelConfigToText(config)).toContain('name: "y"');
});
