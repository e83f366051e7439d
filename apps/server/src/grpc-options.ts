import type { CompressionLevel } from '@nereid/grpc';
import type { ApiRestriction } from '@nereid/serving';
import { UsageError } from './errors.ts';
import type { ParsedFlags } from './flags/parse.ts';
import { readForwardPattern, readRestrictions } from './restrictions.ts';

/** Files in PEM form. */
export interface GrpcTlsFiles {
  readonly cert: string;
  readonly key: string;
  /** '' for none. */
  readonly root: string;
  readonly requireClientCertificate: boolean;
}

export interface GrpcFrontOptions {
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly maxMessageBytes: number;
  readonly maxInputBytes: number;
  readonly responseCompression: CompressionLevel;
  /** Calls that take a key. */
  readonly restrictedProtocols: readonly ApiRestriction[];
  /** Which metadata of an inference become parameters; undefined for none. */
  readonly forwardHeaders: string | undefined;
  /** Plain text without. */
  readonly tls: GrpcTlsFiles | undefined;
}

/**
 * The gRPC front end that a command line asks for; undefined for none.
 * @throws {UsageError} when its options do not go together
 */
export function grpcFromFlags(
  { values, given }: Pick<ParsedFlags, 'values' | 'given'>,
  addressOf: (text: string) => string,
): GrpcFrontOptions | undefined {
  if (!values['allow-grpc']) return undefined;
  // Who takes any port for one protocol wants several servers side by side.
  const takesAny = !given.has('grpc-port') && given.has('http-port') && values['http-port'] === 0;
  return {
    address: addressOf(values['grpc-address']),
    port: takesAny ? 0 : values['grpc-port'],
    maxMessageBytes: values['grpc-max-message-size'],
    maxInputBytes: values['grpc-max-input-size'],
    responseCompression: values['grpc-infer-response-compression-level'],
    restrictedProtocols: readRestrictions(values, 'grpc-restricted-protocol'),
    forwardHeaders: readForwardPattern(values, 'grpc-header-forward-pattern'),
    tls: tlsFromFlags(values),
  };
}

function tlsFromFlags(values: ParsedFlags['values']): GrpcTlsFiles | undefined {
  const [cert, key, root] = [values['grpc-server-cert'], values['grpc-server-key'], values['grpc-root-cert']];
  const isMutual = values['grpc-use-ssl-mutual'];
  if (!values['grpc-use-ssl'] && !isMutual) {
    if (cert === '' && key === '' && root === '') return undefined;
    throw new UsageError('certificates for gRPC are given, and TLS is not turned on: add --grpc-use-ssl=true');
  }
  if (cert === '' || key === '')
    throw new UsageError('--grpc-use-ssl needs --grpc-server-cert and --grpc-server-key: name both PEM files');
  if (isMutual && root === '')
    throw new UsageError('--grpc-use-ssl-mutual needs --grpc-root-cert: the authorities of the client certificates');
  return { cert, key, root, requireClientCertificate: isMutual };
}
