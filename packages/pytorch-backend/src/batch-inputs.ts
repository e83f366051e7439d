/**
 * Tensors that are made for a batch from the shapes of one of its inputs. Counts are of elements, one per request, rows included; item shapes are one
 * per row, without the batch dimension. Source: Triton's `batch_input`.
 */
import { type Datatype, elementCount, type Shape } from '@nereid/core';
import type { BatchInputKind } from '@nereid/model-config';

export interface BatchInputRequest {
  readonly kind: BatchInputKind;
  readonly datatype: Datatype;
  /** Of the source input in each request, as clients sent it. */
  readonly shapes: readonly Shape[];
  /** Whether dimension 0 of them is the batch. */
  readonly isBatching: boolean;
}

export interface BatchInputTensor {
  readonly shape: Shape;
  readonly data: Uint8Array;
}

export function makeBatchInput({ kind, datatype, shapes, isBatching }: BatchInputRequest): BatchInputTensor {
  const list = (values: readonly number[]) => ({ shape: [values.length], data: bytesOf(datatype, values) });
  switch (kind) {
    case 'BATCH_ELEMENT_COUNT':
      return list(shapes.map(elementCount));
    case 'BATCH_ACCUMULATED_ELEMENT_COUNT':
      return list(accumulated(shapes));
    case 'BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO':
      return list([0, ...accumulated(shapes)]);
    case 'BATCH_MAX_ELEMENT_COUNT_AS_SHAPE':
      return list(new Array<number>(shapes.reduce((most, shape) => Math.max(most, elementCount(shape)), 0)).fill(0));
    case 'BATCH_ITEM_SHAPE': {
      const items = itemShapes(shapes, isBatching);
      return { shape: [items.length, items[0]?.length ?? 0], data: bytesOf(datatype, items.flat()) };
    }
    case 'BATCH_ITEM_SHAPE_FLATTEN':
      return list(itemShapes(shapes, isBatching).flat());
    default:
      kind satisfies never;
      throw new RangeError(`${String(kind)} is no kind of batch input`);
  }
}

function accumulated(shapes: readonly Shape[]): number[] {
  let total = 0;
  return shapes.map((shape) => {
    total += elementCount(shape);
    return total;
  });
}

function itemShapes(shapes: readonly Shape[], isBatching: boolean): Shape[] {
  if (!isBatching) return [...shapes];
  return shapes.flatMap(([rows = 0, ...item]) => new Array<Shape>(rows).fill(item));
}

function bytesOf(datatype: Datatype, values: readonly number[]): Uint8Array {
  const numbers = datatype === 'INT32' ? Int32Array.from(values) : Float32Array.from(values);
  return new Uint8Array(numbers.buffer);
}
