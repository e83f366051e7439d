export * from '../common.ts';
export type { TlsOptions } from '../node/transport.ts';
export { GrpcClient, type GrpcClientOptions } from './client.ts';
export type { ConnectionOptions } from './connection.ts';
export { InferStream, type StreamAnswer } from './infer-stream.ts';
