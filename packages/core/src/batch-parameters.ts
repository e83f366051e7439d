/** What a client is told of the batch its request ran in: parameters of the answer, sent when the request has `"nereid_batch": true`. */
import type { BatchInfo } from './batch-info.ts';
import type { InferenceResponse, ParameterValue } from './request.ts';

/**
 * The answer with the batch among its parameters: `nereid_batch_id`, the running number among the batches of the model version; `nereid_batch_size`, its rows;
 * `nereid_batch_requests`; `nereid_batch_reason`, why it was closed; `nereid_batch_instance`, the model instance that ran it. A parameter of the
 * model by the same name gives way. The tensors are those of `response`, whose own `release` still gives their memory back.
 */
export function withBatch(response: InferenceResponse, batch: BatchInfo): InferenceResponse {
  const { modelName, modelVersion, outputs, parameters = [] } = response;
  return { modelName, modelVersion, outputs, parameters: new Map([...parameters, ...batchParameters(batch)]) };
}

function batchParameters({ id, batchSize, requestCount, reason, instance }: BatchInfo): [string, ParameterValue][] {
  return [
    ['nereid_batch_id', id],
    ['nereid_batch_size', batchSize],
    ['nereid_batch_requests', requestCount],
    ['nereid_batch_reason', reason],
    ['nereid_batch_instance', instance],
  ];
}
