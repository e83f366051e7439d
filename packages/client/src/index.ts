export * from './grpc/index.ts';
export * from './http/index.ts';
export { type NodeTransportOptions, nodeTransport } from './node/transport.ts';
