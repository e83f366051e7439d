import type { InferenceEngine } from '@nereid/serving';
import { GrpcError } from './errors.ts';
import type { Address } from './infer/request.ts';

/** Why a request is refused that cannot be decoded: the model counts before the content. */
export function refusalOf({ modelName, modelVersion }: Address, thrown: unknown, engine: InferenceEngine): unknown {
  if (thrown instanceof GrpcError && thrown.reason === 'bad-message') return thrown;
  try {
    engine.modelMetadata(modelName, modelVersion);
    return thrown;
  } catch (gone) {
    return gone;
  }
}
