import { invalidText } from './errors.ts';
import type { PbtxtOptions } from './options.ts';
import { parseSyntax } from './parse-syntax.ts';
import { printSyntax } from './print.ts';
import type { Document } from './syntax.ts';
export function format(input: string | Document, options: PbtxtOptions = {}): string {
  const text = typeof input === 'string' ? input : printSyntax(input);
  const { diagnostics } = parseSyntax(text, options);
  if (diagnostics.some((d) => d.severity === 'error')) throw invalidText(diagnostics, { ...options, text });
  return text;
}
