/** One line per inference, for those who ask for it. */
import type { Tensor } from '@nereid/core';
import type { FinishedListener, FinishedRequest } from '@nereid/serving';
import type { Log } from './log.ts';

/** Verbose level from which the line of a request also tells how it was batched. */
const BATCH_LEVEL = 2;

/**
 * Makes what logs each inference: as information when it is asked for, else as a verbose line.
 * Undefined costs nothing; while nobody wants verbose lines the listener asks only that.
 */
export function accessLog(log: Log, { isAsked }: { readonly isAsked: boolean }): FinishedListener {
  return (finished) => {
    if (isAsked) log.info(fieldsOf(finished, log), 'inference');
    else if (log.isVerbose) log.debug(fieldsOf(finished, log), 'inference');
  };
}

function fieldsOf({ request, version, finishedMicros, response, error }: FinishedRequest, log: Log): object {
  const { arrivedMicros, dispatchedMicros, execution, origin } = request;
  return {
    id: request.id === '' ? '<id_unknown>' : request.id,
    ...origin,
    model: request.modelName,
    version: version === '' ? request.modelVersion : version,
    status: error?.code ?? 'OK',
    ...(error !== undefined && { error: error.message }),
    batch_size: request.batchSize,
    ...(dispatchedMicros > 0 && { queue_us: micros(dispatchedMicros - arrivedMicros) }),
    ...(execution !== undefined && {
      compute_us: micros((execution.computeInputNs + execution.computeInferNs + execution.computeOutputNs) / 1000),
    }),
    ...(arrivedMicros > 0 && { total_us: micros(finishedMicros - arrivedMicros) }),
    input_bytes: bytesOf(request.inputs),
    output_bytes: bytesOf(response?.outputs ?? []),
    ...(log.settings.verboseLevel >= BATCH_LEVEL && batchFields(request)),
  };
}

function batchFields({ batch }: FinishedRequest['request']): object {
  return batch === undefined ? {} : { batch: batch.id, executed_batch_size: batch.batchSize, instance: batch.instance };
}

function micros(value: number): number {
  return Math.max(0, Math.round(value));
}

function bytesOf(tensors: readonly Tensor[]): number {
  return tensors.reduce((sum, { data }) => sum + data.byteLength, 0);
}
