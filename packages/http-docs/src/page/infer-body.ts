/** The body of an inference: names and shapes as JSON, values as the person wrote them; those of FP16 and BF16, which JSON does not take, as bytes behind it. */
import { toBf16, toFp16 } from '@nereid/core';
import { parseJson } from './json.ts';
import type { TensorMetadata } from './server.ts';
import { hasJsonForm } from './tensors.ts';

export interface InputValues {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  /** JSON text of an array. */
  readonly data: string;
}

/** JSON, and tensors as bytes behind it: none where all is JSON. */
export interface Body {
  readonly head: string;
  readonly blobs: readonly Uint8Array<ArrayBuffer>[];
}

export interface InferCall {
  readonly inputs: readonly InputValues[];
  /** Those of the model. */
  readonly outputs: readonly TensorMetadata[];
  /** JSON text of an object; '' for none. */
  readonly parameters: string;
}

/** @throws {TypeError} for values of FP16 and BF16 that are no numbers */
export function inferBody({ inputs, outputs, parameters }: InferCall): Body {
  const blobs: Uint8Array<ArrayBuffer>[] = [];
  const entries = inputs.map(({ data, ...head }) => {
    const text = JSON.stringify(head).slice(0, -1);
    if (hasJsonForm(head.datatype)) return `${text},"data":${data}}`;
    const blob = halfBytes(head, data);
    blobs.push(blob);
    return `${text},"parameters":{"binary_data_size":${blob.length}}}`;
  });
  const members = [
    ...(parameters.trim() === '' ? [] : [`"parameters":${parameters}`]),
    `"inputs":[${entries.join(',')}]`,
    ...(outputs.every(({ datatype }) => hasJsonForm(datatype))
      ? []
      : [`"outputs":${JSON.stringify(outputs.map(wanted))}`]),
  ];
  return { head: `{${members.join(',')}}`, blobs };
}

const wanted = ({ name, datatype }: TensorMetadata) => ({
  name,
  parameters: { binary_data: !hasJsonForm(datatype) },
});

function halfBytes({ name, datatype }: { readonly name: string; readonly datatype: string }, data: string) {
  const values = (parseJson(data) as unknown[]).flat(Number.POSITIVE_INFINITY);
  if (!values.every((value) => typeof value === 'number')) throw new TypeError(`values of '${name}': expected numbers`);
  return datatype === 'FP16' ? toFp16(values) : toBf16(values);
}

/** Bytes of the JSON, which tell the server where it ends; undefined where all is JSON. */
export function headLength({ head, blobs }: Body): number | undefined {
  return blobs.length === 0 ? undefined : new TextEncoder().encode(head).length;
}
