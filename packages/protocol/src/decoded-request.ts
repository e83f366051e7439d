import type { InferenceRequestInit, ParameterValue, RequestSignature, SharedMemoryTensors, Tensor } from '@nereid/core';
import type { RequestParameters } from './request-parameters.ts';
import type { ModelTarget } from './request-template.ts';
import type { ResponseFormat } from './response-format.ts';

/** What a decoded request is made of. */
export interface DecodedParts {
  readonly target: ModelTarget;
  readonly id: string;
  readonly inputs: readonly Tensor[];
  readonly requestedOutputs: readonly string[];
  readonly parameters: RequestParameters;
  readonly format: ResponseFormat;
  readonly signature: RequestSignature | undefined;
  readonly sharedMemory?: SharedMemoryTensors | undefined;
  readonly classes?: ReadonlyMap<string, number> | undefined;
}

/** An inference request as it came over the wire; pass it to `new InferenceRequest(decoded, responder)`. */
export class DecodedRequest implements InferenceRequestInit {
  readonly modelName: string;
  readonly modelVersion: string;
  readonly id: string;
  readonly inputs: readonly Tensor[];
  readonly requestedOutputs: readonly string[];
  readonly priority: number | bigint;
  readonly timeoutMicroseconds: number | bigint;
  readonly correlationId: number | bigint | string;
  readonly sequenceStart: boolean;
  readonly sequenceEnd: boolean;
  readonly parameters: ReadonlyMap<string, ParameterValue>;
  readonly signature: RequestSignature | undefined;
  /** How the answer is to be encoded: `format.encode(response, id)`. */
  readonly format: ResponseFormat;
  /** Whether the answer is to tell of the batch that the request ran in: `withBatch(response, batch)`. */
  readonly tellsBatch: boolean;
  /** Tensors that lie in shared memory: those inputs have no data yet. Undefined when there are none. */
  readonly sharedMemory: SharedMemoryTensors | undefined;
  /** How many classes are to be sent of an output in place of it, by its name. Undefined when none is classified. */
  readonly classes: ReadonlyMap<string, number> | undefined;

  /** @internal */
  constructor(parts: DecodedParts) {
    const { target, parameters } = parts;
    this.modelName = target.modelName;
    this.modelVersion = target.modelVersion;
    this.id = parts.id;
    this.inputs = parts.inputs;
    this.requestedOutputs = parts.requestedOutputs;
    this.priority = parameters.priority;
    this.timeoutMicroseconds = parameters.timeoutMicroseconds;
    this.correlationId = parameters.correlationId;
    this.sequenceStart = parameters.sequenceStart;
    this.sequenceEnd = parameters.sequenceEnd;
    this.parameters = parameters.custom;
    this.signature = parts.signature;
    this.format = parts.format;
    this.tellsBatch = parameters.tellsBatch;
    this.sharedMemory = parts.sharedMemory;
    this.classes = parts.classes;
  }
}
