/** One gRPC call on an HTTP/2 stream. Source: the gRPC specification of HTTP/2. */

import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import {
  compress,
  decompress,
  ENCODINGS,
  type Encoding,
  isEncoding,
  MessageReader,
  prefixOf,
} from '@nereid/grpc/messages';
import type { Deadline } from '../deadline.ts';
import { ClientError } from '../errors.ts';
import { connectionFailure } from '../failure.ts';
import type { Compression } from '../options.ts';
import { decodeStatusMessage, OK, statusError } from './status.ts';

/** A message in pieces, which are written one after another. */
export interface Message {
  readonly pieces: readonly Uint8Array[];
  readonly byteLength: number;
}

export interface CallHandler {
  message(bytes: Buffer): void;
  /** Called once, after the last message. Without an error the call ended well. */
  ended(error: ClientError | undefined): void;
}

export interface CallInit {
  readonly session: ClientHttp2Session;
  readonly path: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly deadline: Deadline;
  readonly server: string;
  readonly compression: Compression | undefined;
  /** Bytes of one message of an answer, before and after it is inflated. */
  readonly maxMessageBytes: number;
}

const ACCEPT_ENCODING = ENCODINGS.join(',');

/** Up to this size a message leaves in one piece with its prefix. */
const SMALL_BYTES = 16_384;

/** Fast rather than small: the network is seldom that slow. */
const LEVEL = 1;

export class Call {
  readonly #init: CallInit;
  readonly #handler: CallHandler;
  readonly #stream: ClientHttp2Stream;
  readonly #reader: MessageReader;
  #encoding: Encoding = 'identity';
  #status: ClientError | 'ok' | undefined;
  #error: unknown;
  #isOver = false;
  /** Messages are handed on in the order they came, also when one takes longer to inflate; so are those that are sent. */
  #inflating: Promise<void> | undefined;
  #deflating: Promise<void> = Promise.resolve();
  readonly #abort = () => this.#finish(this.#init.deadline.error);

  constructor(init: CallInit, handler: CallHandler) {
    this.#init = init;
    this.#handler = handler;
    this.#reader = new MessageReader(init.maxMessageBytes);
    this.#stream = init.session.request(headersOf(init));
    this.#stream.on('response', (headers) => this.#responded(headers));
    this.#stream.on('trailers', (trailers) => this.#take(trailers));
    this.#stream.on('data', (piece: Buffer) => this.#read(piece));
    this.#stream.on('error', (error) => {
      this.#error = error;
    });
    this.#stream.on('close', () => void this.#closed());
    init.deadline.signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** Sends a message; resolves when there is room for another. */
  async send(message: Message): Promise<void> {
    const { compression } = this.#init;
    if (compression === undefined) {
      this.#write(message.pieces, prefixOf(message.byteLength));
    } else {
      const deflated = compress(Buffer.concat(message.pieces, message.byteLength), compression, LEVEL);
      this.#deflating = this.#deflating.then(async () => {
        const bytes = await deflated;
        this.#write([bytes], prefixOf(bytes.length, true));
      });
      await this.#deflating;
    }
    if (this.#stream.writableNeedDrain && !this.#isOver) await this.#drained();
  }

  /** There are no more messages. */
  half(): void {
    void this.#deflating.then(() => this.#stream.end());
  }

  /** Reads no further until `resume`, so that flow control holds the server back. */
  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  /** Ends the call; the server learns of it. */
  cancel(error?: ClientError): void {
    this.#finish(error);
  }

  #write(pieces: readonly Uint8Array[], prefix: Buffer): void {
    const stream = this.#stream;
    if (this.#isOver || stream.destroyed) return;
    const [only] = pieces;
    if (pieces.length === 1 && only !== undefined && only.length <= SMALL_BYTES) {
      stream.write(Buffer.concat([prefix, only], prefix.length + only.length));
      return;
    }
    stream.cork();
    stream.write(prefix);
    for (const piece of pieces) if (piece.length > 0) stream.write(piece);
    stream.uncork();
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const stream = this.#stream;
      const done = () => {
        stream.off('drain', done);
        stream.off('close', done);
        resolve();
      };
      stream.once('drain', done);
      stream.once('close', done);
    });
  }

  #responded(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    const status = headers[':status'];
    const encoding = String(headers['grpc-encoding'] ?? 'identity');
    if (isEncoding(encoding)) this.#encoding = encoding;
    if (headers['grpc-status'] !== undefined) this.#take(headers);
    else if (status !== 200 || !headers['content-type']?.startsWith('application/grpc'))
      this.#finish(this.#badAnswer(`it answers ${status} ${headers['content-type'] ?? ''}`));
    else if (!isEncoding(encoding)) this.#finish(this.#badAnswer(`it answers in the encoding '${encoding}'`));
  }

  /** Trailers, or the headers of an answer without messages. */
  #take(trailers: IncomingHttpHeaders): void {
    if (trailers['grpc-status'] === undefined) return;
    const status = Number(trailers['grpc-status']);
    const message = decodeStatusMessage(String(trailers['grpc-message'] ?? ''));
    const pushback = Number(trailers['grpc-retry-pushback-ms'] ?? Number.NaN);
    this.#status =
      status === OK ? 'ok' : statusError({ status, message, ...(pushback >= 0 && { retryAfterMs: pushback }) });
  }

  #read(piece: Buffer): void {
    if (this.#isOver) return;
    try {
      for (const { bytes, isCompressed } of this.#reader.take(piece)) this.#message(bytes, isCompressed);
    } catch (thrown) {
      this.#finish(this.#badAnswer(messageOf(thrown), thrown));
    }
  }

  #message(bytes: Buffer, isCompressed: boolean): void {
    if (!isCompressed && this.#inflating === undefined) {
      this.#deliver(bytes);
      return;
    }
    const { maxMessageBytes } = this.#init;
    const inflated = isCompressed ? decompress(bytes, this.#encoding, maxMessageBytes) : Promise.resolve(bytes);
    this.#inflating = (this.#inflating ?? Promise.resolve())
      .then(() => inflated)
      .then(
        (whole) => this.#deliver(whole),
        (thrown: unknown) => this.#finish(this.#badAnswer(messageOf(thrown), thrown)),
      );
  }

  #deliver(bytes: Buffer): void {
    if (this.#isOver) return;
    try {
      this.#handler.message(bytes);
    } catch (thrown) {
      this.#finish(this.#badAnswer(messageOf(thrown), thrown));
    }
  }

  async #closed(): Promise<void> {
    await this.#inflating;
    if (this.#status === 'ok') this.#over(undefined);
    else this.#over(this.#status ?? this.#broken());
  }

  /** The stream ended without a status. */
  #broken(): ClientError {
    const { rstCode } = this.#stream;
    const isNotTaken = rstCode === constants.NGHTTP2_REFUSED_STREAM;
    const thrown = this.#error ?? new Error(`the call was reset with code ${rstCode} and no status`);
    return connectionFailure(thrown, this.#init.server, { isNotTaken });
  }

  /** Ends the call from this side. */
  #finish(error: ClientError | undefined): void {
    if (this.#isOver) return;
    this.#over(error);
    // What was read and not taken would keep a stream that is only closed.
    this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#stream.destroy();
  }

  #over(error: ClientError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#init.deadline.signal.removeEventListener('abort', this.#abort);
    this.#handler.ended(error);
  }

  #badAnswer(what: string, cause?: unknown): ClientError {
    const { server } = this.#init;
    return new ClientError({
      reason: 'bad-answer',
      code: 'INTERNAL',
      summary: `the answer of ${server} is none of the v2 inference protocol: ${what}`,
      advice: 'is it a server of that protocol, and its port for gRPC?',
      cause,
    });
  }
}

function headersOf({ path, metadata, deadline, compression }: CallInit): Record<string, string> {
  const { remainingMs } = deadline;
  return {
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    'grpc-accept-encoding': ACCEPT_ENCODING,
    ...(compression && { 'grpc-encoding': compression }),
    ...(Number.isFinite(remainingMs) && { 'grpc-timeout': timeoutText(remainingMs) }),
    ...metadata,
  };
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** At most eight digits. */
function timeoutText(ms: number): string {
  const whole = Math.max(1, Math.ceil(ms));
  return whole < 1e8 ? `${whole}m` : `${Math.ceil(whole / 1000)}S`;
}
