export type { ConnectionLimits } from './connection.ts';
export { GrpcError, type GrpcErrorReason } from './errors.ts';
export type { AllowanceOptions } from './http2/allowance.ts';
export type { Http2Limits } from './http2/limits.ts';
export type { ListenAddress as GrpcAddress, TlsOptions } from './http2/server.ts';
export type { InferLimits } from './infer/request.ts';
export type { CompressionLevel, GrpcOptions } from './options.ts';
export { GrpcServer, type GrpcServerOptions } from './server.ts';
