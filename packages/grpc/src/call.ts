/**
 * One call: its messages in, its messages and its status out. It ends once: by `end`, by a failure, by its deadline, or with its client.
 *
 * A call that fails before it sent anything is answered with a single block of headers, as clients expect.
 */
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import type { Connection } from './connection.ts';
import { timeoutMsOf } from './deadline.ts';
import { GrpcError } from './errors.ts';
import { compress, decompress, ENCODINGS, type Encoding, isEncoding, MessageReader, prefixOf } from './framing.ts';
import type { EncodedPieces } from './infer/response.ts';
import type { CompressionLevel, GrpcSettings } from './options.ts';
import { type CallStatus, encodeStatusMessage, STATUS, statusOf } from './status.ts';

/** What a method does with a call. */
export interface CallHandler {
  /** A message of the client. It must not throw. */
  message(bytes: Buffer): void;
  /** The client sends no more. */
  halfClosed(): void;
  /** The call is over and was not ended by the method: the client has gone, or the deadline has passed. */
  cancelled(): void;
}

const LEVELS: Readonly<Record<Exclude<CompressionLevel, 'none'>, number>> = { low: 1, medium: 6, high: 9 };
const ACCEPT_ENCODING = ENCODINGS.join(',');
const CONTENT_TYPE = 'application/grpc';

export interface CallInit {
  /** Metadata of the client. */
  readonly headers: IncomingHttpHeaders;
  readonly settings: GrpcSettings;
  readonly connection: Connection;
}

export class Call {
  /** Metadata of the client. */
  readonly headers: IncomingHttpHeaders;
  readonly #stream: ServerHttp2Stream;
  readonly #settings: GrpcSettings;
  readonly #connection: Connection;
  readonly #reader: MessageReader;
  readonly #encoding: string;
  readonly #replyEncoding: Encoding;
  #handler: CallHandler | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #status: CallStatus | undefined;
  /** Messages are handed on in the order they came, also when one takes longer to inflate. */
  #inflating: Promise<void> | undefined;
  /** Answers are written in the order they were given, also when one takes longer to deflate. */
  #deflating: Promise<void> | undefined;

  constructor(stream: ServerHttp2Stream, { headers, settings, connection }: CallInit) {
    this.headers = headers;
    this.#stream = stream;
    this.#settings = settings;
    this.#connection = connection;
    connection.callOpened();
    this.#reader = new MessageReader(settings.maxMessageBytes);
    this.#encoding = String(headers['grpc-encoding'] ?? 'identity');
    this.#replyEncoding = replyEncoding(headers, settings);
    const timeoutMs = timeoutMsOf(headerText(headers['grpc-timeout']));
    if (timeoutMs !== undefined) this.#deadline = setTimeout(() => this.#expire(), timeoutMs);
    stream.on('error', ignore);
    stream.on('close', () => this.#closed());
  }

  get isOver(): boolean {
    return this.#status !== undefined;
  }

  /** IP address of the client; undefined when it has gone. */
  get remoteAddress(): string | undefined {
    return this.#stream.session?.socket.remoteAddress;
  }

  /** Bytes that wait for the client to read. */
  get waitingBytes(): number {
    return this.#stream.writableLength;
  }

  /** Starts to read. */
  handle(handler: CallHandler): void {
    this.#handler = handler;
    if (!isEncoding(this.#encoding)) {
      const message = `grpc-encoding '${this.#encoding}' is not supported; use ${ENCODINGS.join(', ')}`;
      this.fail(new GrpcError('compression', message));
      return;
    }
    this.#stream.on('data', (piece: Buffer) => this.#take(piece));
    this.#stream.on('end', () => this.#ended());
  }

  /** Reads no further until `resume`, so that flow control holds the client back. */
  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  /** Calls back once, when the client has read what waits. */
  onceDrained(callback: () => void): void {
    this.#stream.once('drain', callback);
  }

  /**
   * Sends a message.
   * @param written  called once when the pieces are no longer needed, and the client has room for more
   */
  send(message: EncodedPieces, written: () => void = ignore): void {
    if (this.isOver) {
      written();
      return;
    }
    const encoding = this.#replyEncoding;
    if (encoding === 'identity') {
      this.#write(message.pieces, prefixOf(message.byteLength), written);
      return;
    }
    const whole = Buffer.concat(message.pieces, message.byteLength);
    const level = LEVELS[this.#settings.responseCompression === 'none' ? 'low' : this.#settings.responseCompression];
    const deflated = compress(whole, encoding, level);
    this.#deflating = (this.#deflating ?? Promise.resolve()).then(async () => {
      const bytes = await deflated;
      if (this.isOver) written();
      else this.#write([bytes], prefixOf(bytes.length, true), written);
    });
  }

  /** Ends the call well, after what was sent. */
  end(): void {
    if (this.#deflating === undefined) this.#finish({ code: STATUS.OK, message: '' });
    else void this.#deflating.then(() => this.#finish({ code: STATUS.OK, message: '' }));
  }

  /** Ends the call with the status of a failure. */
  fail(thrown: unknown): void {
    if (this.isOver) return;
    this.#finish(failureStatus(thrown, this.#settings));
  }

  #write(pieces: readonly Uint8Array[], prefix: Buffer, written: () => void): void {
    const stream = this.#stream;
    this.#connection.sent();
    this.#respond();
    const [only] = pieces;
    if (pieces.length === 1 && only !== undefined && only.length <= SMALL_BYTES) {
      const bytes = Buffer.concat([prefix, only], prefix.length + only.length);
      // They are copies; but once the client does not keep up, whoever waits for `written` is to wait for the client.
      if (stream.writableNeedDrain) stream.write(bytes, () => written());
      else {
        stream.write(bytes);
        written();
      }
      return;
    }
    const filled = pieces.filter((piece) => piece.length > 0);
    stream.cork();
    stream.write(prefix);
    // Node calls back when the socket has taken the bytes of that write: only the last one tells of all.
    for (const [i, piece] of filled.entries())
      stream.write(piece, i === filled.length - 1 ? () => written() : undefined);
    stream.uncork();
    if (filled.length === 0) written();
  }

  #respond(): void {
    if (this.#stream.headersSent) return;
    const headers: Record<string, string | number> = {
      ':status': 200,
      'content-type': CONTENT_TYPE,
      'grpc-accept-encoding': ACCEPT_ENCODING,
    };
    if (this.#replyEncoding !== 'identity') headers['grpc-encoding'] = this.#replyEncoding;
    this.#stream.respond(headers, { waitForTrailers: true });
    this.#stream.once('wantTrailers', () => this.#sendTrailers());
  }

  #sendTrailers(): void {
    this.#stream.sendTrailers(trailersOf(this.#status ?? { code: STATUS.OK, message: '' }));
  }

  #finish(status: CallStatus): void {
    if (this.isOver) return;
    this.#status = status;
    clearTimeout(this.#deadline);
    const stream = this.#stream;
    if (stream.destroyed) return;
    this.#connection.sent();
    if (stream.headersSent) {
      stream.end();
    } else if (status.code === STATUS.OK) {
      this.#respond();
      stream.end();
    } else {
      stream.respond({ ':status': 200, 'content-type': CONTENT_TYPE, ...trailersOf(status) }, { endStream: true });
    }
    // What the client still sends is not wanted any more.
    if (!stream.readableEnded) stream.resume();
  }

  #take(piece: Buffer): void {
    if (this.isOver) return;
    try {
      for (const { bytes, isCompressed } of this.#reader.take(piece)) this.#accept(bytes, isCompressed);
    } catch (thrown) {
      this.#refuse(thrown);
    }
  }

  #accept(bytes: Buffer, isCompressed: boolean): void {
    if (!isCompressed && this.#inflating === undefined) {
      this.#handler?.message(bytes);
      return;
    }
    const encoding = isEncoding(this.#encoding) ? this.#encoding : 'identity';
    const inflated = isCompressed
      ? decompress(bytes, encoding, this.#settings.maxInflatedBytes)
      : Promise.resolve(bytes);
    this.#inflating = (this.#inflating ?? Promise.resolve())
      .then(() => inflated)
      .then(
        (whole) => {
          if (!this.isOver) this.#handler?.message(whole);
        },
        (thrown: unknown) => this.#refuse(thrown),
      );
  }

  #ended(): void {
    if (this.isOver) return;
    if (this.#reader.isInside) {
      this.#refuse(new GrpcError('bad-message', 'the call ends inside a message'));
      return;
    }
    if (this.#inflating === undefined) this.#handler?.halfClosed();
    else
      void this.#inflating.then(() => {
        if (!this.isOver) this.#handler?.halfClosed();
      });
  }

  /** The client broke the rules: what it asked for before is not wanted either. */
  #refuse(thrown: unknown): void {
    if (this.isOver) return;
    this.fail(thrown);
    this.#handler?.cancelled();
  }

  #expire(): void {
    if (this.isOver) return;
    this.#finish({ code: STATUS.DEADLINE_EXCEEDED, message: 'Deadline Exceeded' });
    this.#handler?.cancelled();
  }

  #closed(): void {
    this.#connection.callClosed();
    clearTimeout(this.#deadline);
    if (this.isOver) return;
    this.#status = { code: STATUS.CANCELLED, message: 'the client has gone' };
    this.#handler?.cancelled();
  }

  /** Ends the connection's part of this call without a status, e.g. when the server must not wait any longer. */
  abort(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }
}

/** Up to this size a message is copied behind its prefix, so that it leaves in one frame. */
const SMALL_BYTES = 16_384;

function ignore(): void {}

function headerText(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function failureStatus(thrown: unknown, { logger }: GrpcSettings): CallStatus {
  if (thrown instanceof GrpcError && thrown.reason === 'too-large')
    return { code: STATUS.RESOURCE_EXHAUSTED, message: thrown.message };
  return statusOf(thrown, logger);
}

function trailersOf({ code, message }: CallStatus): Record<string, string> {
  return message === ''
    ? { 'grpc-status': String(code) }
    : { 'grpc-status': String(code), 'grpc-message': encodeStatusMessage(message) };
}

/** How answers are compressed: as the server is told, if the client takes it. */
function replyEncoding(headers: IncomingHttpHeaders, { responseCompression }: GrpcSettings): Encoding {
  if (responseCompression === 'none') return 'identity';
  const accepted = String(headers['grpc-accept-encoding'] ?? '').split(/\s*,\s*/);
  return accepted.includes('gzip') ? 'gzip' : accepted.includes('deflate') ? 'deflate' : 'identity';
}
