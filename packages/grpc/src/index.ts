export type { ConnectionLimits } from './connection.ts';
export { GrpcError, type GrpcErrorReason } from './errors.ts';
export type { InferLimits } from './infer/request.ts';
export type { CompressionLevel, GrpcOptions } from './options.ts';
export { type GrpcAddress, GrpcServer, type GrpcServerOptions, type TlsOptions } from './server.ts';
