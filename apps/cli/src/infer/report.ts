/** The answer to a request, for people. */
import type { InferResult } from '@nereid/client';
import { type Datatype, decodeBytes, elements, formatShape, fromBf16, fromFp16, type Tensor } from '@nereid/core';
import { printable } from '../output/printable.ts';
import type { Paint } from '../output/style.ts';

const SHOWN_VALUES = 8;
const SHOWN_CHARACTERS = 80;

export interface Answer {
  readonly response: InferResult;
  readonly elapsedMs: number;
}

/** Ends with a newline. */
export function responseText({ response, elapsedMs }: Answer, paint: Paint): string {
  const { modelName, modelVersion, outputs, parameters } = response;
  const version = modelVersion === '' ? '' : ` version ${modelVersion}`;
  return [
    `${printable(modelName)}${printable(version)}, ${elapsedMs.toFixed(1)} ms`,
    ...[...parameters].map(([key, value]) => `${printable(key)} = ${printable(String(value))}`),
    ...outputs.map((output) => outputText(output, paint)),
    '',
  ].join('\n');
}

/** Name, datatype, shape and range on one line, the first values on the next. */
function outputText(output: Tensor, paint: Paint): string {
  const { name, datatype, shape } = output;
  const head = `${paint('bold', printable(name))} ${datatype} ${formatShape(shape)}`;
  const texts = datatype === 'BYTES' ? decodeBytes(output.data).map(stringText) : undefined;
  if (texts !== undefined) return `${head}\n  ${firstOf(texts)}`;
  const values = numbersOf(output);
  return `${head}  ${paint('dim', summary(values))}\n  ${firstOf(
    Array.from(values.slice(0, SHOWN_VALUES + 1), (value) => valueText(datatype, value)),
    values.length,
  )}`;
}

type Numbers = readonly (number | bigint)[];

function numbersOf(tensor: Tensor): Numbers {
  if (tensor.datatype === 'FP16') return [...fromFp16(tensor.data)];
  if (tensor.datatype === 'BF16') return [...fromBf16(tensor.data)];
  return [...elements(tensor)];
}

/** `min 0.1  max 0.9  mean 0.5  NaN 2`; NaN is left out of the others. */
function summary(values: Numbers): string {
  const real = values.filter((value) => typeof value === 'bigint' || !Number.isNaN(value));
  const [first] = real;
  const nan = values.length - real.length;
  if (first === undefined) return nan === 0 ? 'empty' : `NaN ${nan}`;
  let [min, max, sum] = [first, first, 0];
  for (const value of real) {
    if (value < min) min = value;
    if (value > max) max = value;
    sum += Number(value);
  }
  const parts = [`min ${numberText(min)}`, `max ${numberText(max)}`, `mean ${numberText(sum / real.length)}`];
  return [...parts, ...(nan === 0 ? [] : [`NaN ${nan}`])].join('  ');
}

function valueText(datatype: Datatype, value: number | bigint): string {
  return datatype === 'BOOL' ? String(value !== 0) : numberText(value);
}

/** Six digits of a fraction, integers whole. */
function numberText(value: number | bigint): string {
  if (typeof value === 'bigint' || Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(6)));
}

function stringText(element: Uint8Array): string {
  const text = Buffer.from(element).toString('utf8');
  return printable(JSON.stringify(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text));
}

function firstOf(texts: readonly string[], count = texts.length): string {
  if (count === 0) return '(no elements)';
  const shown = texts.slice(0, SHOWN_VALUES).join(', ');
  return count > SHOWN_VALUES ? `${shown}, … (${count} in all)` : shown;
}
