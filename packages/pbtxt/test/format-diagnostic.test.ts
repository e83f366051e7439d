import { describe, expect, it } from 'vitest';
import { type Diagnostic, formatDiagnostic, parseMessage } from '../src/index.ts';
import { modelConfig } from './support/model-config.ts';

function shown(text: string, options: { file?: string; color?: boolean } = {}): string {
  const [diagnostic] = parseMessage(modelConfig, text).diagnostics;
  return diagnostic === undefined ? '' : formatDiagnostic(diagnostic, { text, ...options });
}

function lines(text: string): string[] {
  return shown(text).split('\n').slice(1);
}

describe('formatDiagnostic', () => {
  it('shows place, severity, message, source line, and carets', () => {
    expect(shown('\n\nmax_batchsize: 8\n', { file: 'config.pbtxt' })).toBe(
      [
        'config.pbtxt:3:1: error: ModelConfig has no field `max_batchsize`; did you mean `max_batch_size`?',
        '  3 | max_batchsize: 8',
        '    | ^~~~~~~~~~~~~',
      ].join('\n'),
    );
  });

  it('leaves the file out when there is none', () => {
    expect(shown('x: 1')).toMatch(/^1:1: error: /);
  });

  it('names warnings as such', () => {
    expect(shown('old_field: 1')).toMatch(/^1:1: warning: /);
  });

  it('keeps tabs, so that carets stand below what they mark', () => {
    expect(lines('input {\n\tdim: 1 }')).toEqual(['  2 | \tdim: 1 }', '    | \t^~~']);
  });

  it('marks the end of the line where a problem stands behind it', () => {
    expect(lines('name: "x\r\n')).toEqual(['  1 | name: "x', '    |       ^~']);
    expect(lines('max_batch_size: -')).toEqual(['  1 | max_batch_size: -', '    |                 ^']);
  });

  it('marks the first line of a problem of several', () => {
    const diagnostic = { severity: 'error', reason: 'wrong-type', message: 'm' } as const;
    const [start, end] = [
      { line: 1, column: 3, offset: 2 },
      { line: 2, column: 2, offset: 6 },
    ];
    const several: Diagnostic = { ...diagnostic, span: { start, end } };
    expect(formatDiagnostic(several, { text: 'abcd\nef' })).toBe('1:3: error: m\n  1 | abcd\n    |   ^~');
  });

  it('cuts long lines around the problem', () => {
    const [source = '', carets = ''] = lines(
      `${'name: "x" '.repeat(20)}zzz: 1${' name: "x"'.repeat(20)}`.replace(/^/, 'zz: 1 '),
    );
    expect(source.length).toBeLessThan(140);
    expect(source.slice(carets.indexOf('^'), carets.length)).toBe('zz');
  });

  it('shows no control characters of the source', () => {
    expect(shown('zz: "\u001b[31m\u202e"')).not.toMatch(/[\u001b\u202e]/);
    expect(shown('\u001b: 1')).not.toMatch(/\u001b/);
  });

  it('colours on request', () => {
    expect(shown('x: 1', { color: true })).toContain('\u001b[31merror\u001b[0m');
  });
});
