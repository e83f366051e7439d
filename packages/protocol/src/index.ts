export { BoundedCache } from './bounded-cache.ts';
export { latin1Bytes } from './bytes.ts';
export { type DecodedResponse, decodeInferResponse, type ResponseMessage } from './decode-response.ts';
export { DecodedRequest } from './decoded-request.ts';
export {
  type BatchingEntry,
  type BatchStatisticsEntry,
  type DurationEntry,
  encodeError,
  encodeModelMetadata,
  encodeModelStatistics,
  encodeRepositoryIndex,
  encodeServerMetadata,
  type ModelMetadataDocument,
  type ModelStatisticsEntry,
  type RepositoryIndexEntry,
  type ResponseStatisticsEntry,
  type ServerMetadata,
  type TensorMetadataEntry,
} from './documents.ts';
export {
  encodeInferRequest,
  type InferRequestMessage,
  type RequestInput,
  type RequestOutput,
} from './encode-request.ts';
export { ProtocolError, type ProtocolErrorReason } from './errors.ts';
export { decodeGenerateRequest, type GenerateRequest } from './generate-request.ts';
export { encodeGenerateResponse } from './generate-response.ts';
export { DEFAULT_LIMITS, type ProtocolLimits } from './limits.ts';
export { type PlainJson, parseJson } from './parse-json.ts';
export { decodeRawRequest, type RawRequest } from './raw-request.ts';
export { type EncodedRequest, RequestDecoder, type RequestDecoderOptions } from './request-decoder.ts';
export type { ModelTarget } from './request-template.ts';
export { type EncodedMessage, type OutputForm, type OutputForms, ResponseFormat } from './response-format.ts';
export { type JobPlace, moved, runJsonTask } from './run-json-task.ts';
