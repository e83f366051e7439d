/** What a client of the protocol shares with the server: messages, their encoding, and their frames. Nothing of the server is loaded with it. */
export { GrpcError } from './errors.ts';
export {
  compress,
  decompress,
  ENCODINGS,
  type Encoding,
  isEncoding,
  MessageReader,
  prefixOf,
} from './framing.ts';
export { contentsField, contentsToBytes } from './infer/contents.ts';
export { readParameterEntry, writeParameterEntry } from './infer/parameters.ts';
export { messageType } from './schema.ts';
export { WIRE, WireReader } from './wire/reader.ts';
export { WireWriter } from './wire/writer.ts';
