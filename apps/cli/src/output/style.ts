import { styleText } from 'node:util';
import type { Io, Output } from '../io.ts';

export type Format = 'bold' | 'dim' | 'red' | 'yellow' | 'green';

/** Colours text, or leaves it alone. */
export type Paint = (format: Format, text: string) => string;

/** Whether to colour what goes to `output`: it is a terminal and NO_COLOR is unset or empty. */
export function hasColor(output: Output, { env }: Pick<Io, 'env'>): boolean {
  return output.isTTY === true && !env.NO_COLOR;
}

export function paintFor(output: Output, io: Pick<Io, 'env'>): Paint {
  return hasColor(output, io) ? (format, text) => styleText(format, text, { validateStream: false }) : plain;
}

export function plain(_format: Format, text: string): string {
  return text;
}
