/**
 * One call: its messages in, its messages and its status out. It ends once: by `end`, by a failure, by its deadline, or with its client.
 *
 * A call that fails before it sent anything is answered with a single block of headers, as clients expect.
 */
import { timeoutMsOf } from './deadline.ts';
import { GrpcError } from './errors.ts';
import { compress, decompress, ENCODINGS, type Encoding, isEncoding, MessageReader, prefixOf } from './framing.ts';
import type { RequestHeaders } from './http2/headers.ts';
import type { FieldList } from './http2/hpack/encoder.ts';
import type { Field } from './http2/hpack/static-table.ts';
import type { Stream, StreamHandler } from './http2/stream.ts';
import { rawContentsAt } from './infer/request.ts';
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

/** The same on every call: a client gets their names and values once. */
const RECURRING = new Set(['content-type', 'grpc-accept-encoding', 'grpc-encoding']);
const CONTENT_TYPE = ['content-type', 'application/grpc'] as const;
const PLAIN_HEAD = headOf('identity');
const HEADS = { identity: PLAIN_HEAD, gzip: headOf('gzip'), deflate: headOf('deflate') } as const;
const WELL_DONE: FieldList = { fields: [['grpc-status', '0']], recurring: new Set(['grpc-status']) };

function headOf(encoding: Encoding): FieldList {
  const fields = [[':status', '200'], CONTENT_TYPE, ['grpc-accept-encoding', ENCODINGS.join(',')]] as const;
  return { fields: encoding === 'identity' ? fields : [...fields, ['grpc-encoding', encoding]], recurring: RECURRING };
}

export class Call implements StreamHandler {
  /** Metadata of the client. */
  readonly headers: RequestHeaders;
  readonly #stream: Stream;
  readonly #settings: GrpcSettings;
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

  constructor(stream: Stream, settings: GrpcSettings) {
    const { headers } = stream;
    this.headers = headers;
    this.#stream = stream;
    this.#settings = settings;
    this.#reader = new MessageReader(settings.maxMessageBytes, rawContentsAt);
    this.#encoding = headers['grpc-encoding'] ?? 'identity';
    this.#replyEncoding = replyEncoding(headers, settings);
    const timeoutMs = timeoutMsOf(headers['grpc-timeout']);
    if (timeoutMs !== undefined) this.#deadline = setTimeout(() => this.#expire(), timeoutMs);
    stream.handle(this);
  }

  get isOver(): boolean {
    return this.#status !== undefined;
  }

  /** IP address of the client; undefined when it has gone. */
  get remoteAddress(): string | undefined {
    return this.#stream.remoteAddress;
  }

  /** Bytes that wait for the client to read. */
  get waitingBytes(): number {
    return this.#stream.waitingBytes;
  }

  /** Starts to read. */
  handle(handler: CallHandler): void {
    this.#handler = handler;
    if (!isEncoding(this.#encoding)) {
      const message = `grpc-encoding '${this.#encoding}' is not supported; use ${ENCODINGS.join(', ')}`;
      this.fail(new GrpcError('compression', message));
    }
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
    this.#stream.onceDrained(callback);
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
    const byteLength = pieces.reduce((sum, { length }) => sum + length, prefix.length);
    this.#respond();
    this.#stream.sendBytes([prefix, ...pieces], byteLength, written);
  }

  #respond(): void {
    if (!this.#stream.headersSent) this.#stream.sendHeaders(HEADS[this.#replyEncoding]);
  }

  #finish(status: CallStatus): void {
    if (this.isOver) return;
    this.#status = status;
    clearTimeout(this.#deadline);
    const stream = this.#stream;
    if (status.code === STATUS.OK) {
      this.#respond();
      stream.sendHeaders(WELL_DONE, true);
      return;
    }
    const trailers = trailersOf(status);
    const fields = stream.headersSent ? trailers : [[':status', '200'] as const, CONTENT_TYPE, ...trailers];
    stream.sendHeaders({ fields, recurring: RECURRING }, true);
  }

  /** Of the stream. */
  data(piece: Buffer): void {
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

  /** Of the stream. */
  ended(): void {
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

  /** Of the stream. */
  closed(): void {
    clearTimeout(this.#deadline);
    if (this.isOver) return;
    this.#status = { code: STATUS.CANCELLED, message: 'the client has gone' };
    this.#handler?.cancelled();
  }
}

function ignore(): void {}

function failureStatus(thrown: unknown, { logger }: GrpcSettings): CallStatus {
  if (thrown instanceof GrpcError && thrown.reason === 'too-large')
    return { code: STATUS.RESOURCE_EXHAUSTED, message: thrown.message };
  return statusOf(thrown, logger);
}

function trailersOf({ code, message }: CallStatus): readonly Field[] {
  const status: Field = ['grpc-status', String(code)];
  return message === '' ? [status] : [status, ['grpc-message', encodeStatusMessage(message)]];
}

/** How answers are compressed: as the server is told, if the client takes it. */
function replyEncoding(headers: RequestHeaders, { responseCompression }: GrpcSettings): Encoding {
  if (responseCompression === 'none') return 'identity';
  const accepted = (headers['grpc-accept-encoding'] ?? '').split(/\s*,\s*/);
  return accepted.includes('gzip') ? 'gzip' : accepted.includes('deflate') ? 'deflate' : 'identity';
}
