import { type ConfigDiagnostic, formatConfigDiagnostic, hasErrors } from '@nereid/model-config';
import { type Io, printLine } from '../io.ts';
import { hasColor } from '../output/style.ts';

interface Shown {
  readonly label: string;
  readonly text: string;
}

/**
 * Prints diagnostics with the lines that they are about, and how many there are.
 * @returns whether one of them is an error
 */
export function printDiagnostics(diagnostics: readonly ConfigDiagnostic[], { label, text }: Shown, io: Io): boolean {
  const color = hasColor(io.stderr, io);
  for (const diagnostic of diagnostics) {
    printLine(io.stderr, formatConfigDiagnostic(diagnostic, { text, file: label, color }));
  }
  if (diagnostics.length > 0) printLine(io.stderr, `${label}: ${summary(diagnostics)}`);
  return hasErrors(diagnostics);
}

/** `2 errors, 1 warning`. */
function summary(diagnostics: readonly ConfigDiagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  return [count(errors, 'error'), count(diagnostics.length - errors, 'warning')]
    .filter((part) => part !== '')
    .join(', ');
}

function count(number: number, noun: string): string {
  if (number === 0) return '';
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
