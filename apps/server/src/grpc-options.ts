import type { CompressionLevel, ConnectionLimits, Http2Limits, InferLimits } from '@nereid/grpc';
import type { ApiRestriction } from '@nereid/serving';
import type { ParsedFlags } from './flags/layer.ts';
import { sharesPort } from './port-sharing.ts';
import { readForwardPattern, readRestrictions } from './restrictions.ts';
import { type TlsFiles, tlsFromFlags } from './tls-files.ts';
import { socketPath } from './unix-socket.ts';

export interface GrpcFrontOptions {
  /** `unix:PATH` for a socket in the file system. */
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly maxMessageBytes: number;
  readonly maxInputBytes: number;
  readonly maxCallMessageBytes: number;
  readonly limits: Omit<InferLimits, 'maxContentsBytes'>;
  readonly http2: Http2Limits;
  /** Requests of one stream under way. */
  readonly maxStreamRequests: number;
  /** Answers of one stream that may wait for a slow client. */
  readonly maxWaitingBytes: number;
  /** Whether other processes may listen on the port as well. */
  readonly reusePort: boolean;
  readonly responseCompression: CompressionLevel;
  /** Calls that take a key. */
  readonly restrictedProtocols: readonly ApiRestriction[];
  /** Which metadata of an inference become parameters; undefined for none. */
  readonly forwardHeaders: string | undefined;
  readonly connections: ConnectionLimits;
  /** Plain text without. */
  readonly tls: TlsFiles | undefined;
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
  const address = addressOf(values['grpc-address']);
  return {
    address,
    port: takesAny || socketPath(address) !== undefined ? 0 : values['grpc-port'],
    maxMessageBytes: values['grpc-max-message-size'],
    maxInputBytes: values['grpc-max-input-size'],
    maxCallMessageBytes: values['grpc-max-call-size'],
    limits: {
      maxTensors: values['grpc-max-tensors'],
      maxParameters: values['grpc-max-parameters'],
      maxDimensions: values['grpc-max-dimensions'],
      maxFields: values['grpc-max-fields'],
    },
    http2: http2Limits(values),
    maxStreamRequests: values['grpc-max-stream-requests'],
    maxWaitingBytes: values['grpc-max-waiting-size'],
    reusePort: sharesPort(values, 'grpc'),
    responseCompression: values['grpc-infer-response-compression-level'],
    restrictedProtocols: readRestrictions(values, 'grpc-restricted-protocol'),
    forwardHeaders: readForwardPattern(values, 'grpc-header-forward-pattern'),
    connections: connectionLimits(values),
    tls: tlsFromFlags(values, 'grpc'),
  };
}

function http2Limits(values: ParsedFlags['values']): Http2Limits {
  return {
    maxConcurrentCalls: values['grpc-max-concurrent-calls'],
    maxMetadataBytes: values['grpc-max-metadata-size'],
    callWindowBytes: values['grpc-call-window-size'],
    connectionWindowBytes: values['grpc-connection-window-size'],
    maxFrameBytes: values['grpc-max-frame-size'],
    resets: { burst: values['grpc-max-resets'], perSecond: values['grpc-max-resets-per-second'] },
    idleFrames: { burst: values['grpc-max-idle-frames'], perSecond: values['grpc-max-idle-frames-per-second'] },
    maxControlBytes: values['grpc-max-control-size'],
    beginTimeoutMs: values['grpc-begin-timeout-ms'],
  };
}

function connectionLimits(values: ParsedFlags['values']): ConnectionLimits {
  return {
    keepaliveTimeMs: values['grpc-keepalive-time'],
    keepaliveTimeoutMs: values['grpc-keepalive-timeout'],
    keepalivePermitWithoutCalls: values['grpc-keepalive-permit-without-calls'],
    maxPingsWithoutData: values['grpc-http2-max-pings-without-data'],
    minPingIntervalMs: values['grpc-http2-min-recv-ping-interval-without-data'],
    maxPingStrikes: values['grpc-http2-max-ping-strikes'],
    maxAgeMs: values['grpc-max-connection-age'],
    maxAgeGraceMs: values['grpc-max-connection-age-grace'],
  };
}
