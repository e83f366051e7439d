export * from './http/index.ts';
export { type NodeTransportOptions, nodeTransport, type TlsOptions } from './node/transport.ts';
