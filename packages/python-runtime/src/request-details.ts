/**
 * What `forward` is told of the requests that it answers, for a model that asks: JSON behind the batch message, one entry per request in the order of their rows.
 * Whole numbers of any size are written as such, and numbers that JSON does not have as Python reads them.
 */
import type { InferenceRequest, ParameterValue } from '@nereid/core';
import type { Batch } from './gather.ts';

/** Whether the model of the process that greeted so asks for it. */
export function asksForRequests(greeting: Buffer): boolean {
  const said: unknown = JSON.parse(greeting.toString());
  return typeof said === 'object' && said !== null && 'asksForRequests' in said && said.asksForRequests === true;
}

export function requestDetails({ requests, rows }: Pick<Batch, 'requests' | 'rows'>): Buffer {
  return Buffer.from(`[${requests.map((request, i) => detailsOf(request, rows[i] ?? 0)).join()}]`);
}

function detailsOf({ id, correlationId, parameters, traceparent, turn }: InferenceRequest, rows: number): string {
  return object([
    ['id', id],
    ['correlation_id', turn?.correlationId ?? correlationId],
    ['rows', rows],
    ['padding', turn?.isPadding ?? false],
    ['parameters', parameters],
    ...(traceparent === undefined ? [] : [['traceparent', traceparent] as const]),
  ]);
}

type Member = readonly [name: string, value: ParameterValue | ReadonlyMap<string, ParameterValue>];

function object(members: Iterable<Member>): string {
  const written = [...members].map(([name, value]) => `${JSON.stringify(name)}:${text(value)}`);
  return `{${written.join()}}`;
}

function text(value: Member[1]): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return typeof value === 'object' ? object(value) : JSON.stringify(value);
}
