/** One stream: a request and its answer. */
import { H2 } from './faults.ts';
import { FRAME, LARGEST_WINDOW } from './frames.ts';
import type { RequestHeaders } from './headers.ts';
import { HeldPieces } from './held-pieces.ts';
import type { FieldList } from './hpack/encoder.ts';
import { type Output, VIEW_FROM_BYTES } from './output.ts';

/** What a stream tells whoever answers it. No method may throw. */
export interface StreamHandler {
  /** Bytes of the request; a view of what the socket read. */
  data(piece: Buffer): void;
  /** The request is whole. */
  ended(): void;
  /** The stream is over: answered, reset, or the connection is gone. */
  closed(): void;
}

/** What a stream needs of its connection. */
export interface StreamOwner {
  readonly output: Output;
  /** What may still be sent on the connection. */
  sendWindow: number;
  /** Headers and frames of data that were sent. */
  sentCount: number;
  /** Longest frame to send. */
  readonly frameBytes: number;
  readonly remoteAddress: string | undefined;
  /** Sends a block of headers. */
  sendHeaders(streamId: number, list: FieldList, endStream: boolean): void;
  sendReset(streamId: number, code: number): void;
  /** Bytes of a request were read: the client may send as many again. */
  credit(bytes: number): void;
  sendWindowUpdate(streamId: number, bytes: number): void;
  /** The stream has something to send and could not. */
  waits(stream: Stream): void;
  /** The answer has left, and the client has not ended its request: `stopRequest` is called when what was read has been looked at. */
  finished(stream: Stream): void;
  /** The stream is over. */
  remove(stream: Stream): void;
}

/** What is to be sent, in order: headers, or bytes. */
type Item =
  | { readonly list: FieldList; readonly endStream: boolean }
  | {
      readonly pieces: readonly Uint8Array[];
      left: number;
      /** Where the rest begins. */
      piece: number;
      offset: number;
      readonly written: () => void;
    };

/** Why a stream stopped sending. */
export type Stop = 'done' | 'turn' | 'stream-window' | 'connection-window' | 'full';

export class Stream {
  readonly id: number;
  readonly headers: RequestHeaders;
  readonly #owner: StreamOwner;
  readonly #windowBytes: number;
  #handler: StreamHandler | undefined;
  #queue: Item[] = [];
  #waitingBytes = 0;
  #drained: (() => void) | undefined;
  /** What may still be sent; below 0 when the client made its windows smaller. */
  #sendWindow: number;
  /** What the client may still send. */
  #receiveWindow: number;
  /** Bytes that were read and not yet told. */
  #uncredited = 0;
  /** What came while nobody read. */
  #held: HeldPieces | undefined;
  #isPaused = false;
  #isDelivering = false;
  /** The client has sent its END_STREAM; its end may still be held. */
  #isRemoteClosed = false;
  #hasEnded = false;
  #headersSent = false;
  /** The answer has left. */
  #isFinished = false;
  /** Nothing may be added to the answer. */
  #isAnswered = false;
  #isClosed = false;
  /** Bytes of the request that are still to come, if it says so. */
  #expectedBytes: number | undefined;
  /** Whether it stands in the connection's list of those that wait. */
  isWaiting = false;

  constructor(init: {
    readonly id: number;
    readonly headers: RequestHeaders;
    readonly owner: StreamOwner;
    readonly sendWindow: number;
    readonly receiveWindow: number;
    /** Of a client that knows the settings. */
    readonly windowBytes: number;
    readonly expectedBytes: number | undefined;
  }) {
    this.id = init.id;
    this.headers = init.headers;
    this.#owner = init.owner;
    this.#sendWindow = init.sendWindow;
    this.#windowBytes = init.windowBytes;
    this.#receiveWindow = init.receiveWindow;
    this.#expectedBytes = init.expectedBytes;
  }

  /** Whether nothing can be sent or received any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isRemoteClosed(): boolean {
    return this.#isRemoteClosed;
  }

  get headersSent(): boolean {
    return this.#headersSent;
  }

  /** IP address of the client; undefined when it has gone, and for one on a socket in the file system. */
  get remoteAddress(): string | undefined {
    return this.#owner.remoteAddress;
  }

  /** Bytes of the answer that wait for the client to read. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  handle(handler: StreamHandler): void {
    this.#handler = handler;
  }

  /** Hands on nothing more until `resume`. The client may send as much as its window allows. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#isDelivering) return;
    while (this.#held !== undefined && !this.#isPaused && !this.#isClosed) {
      const piece = this.#held.shift();
      if (piece === undefined) this.#held = undefined;
      else this.#deliver(piece);
    }
    if (this.#isRemoteClosed && this.#held === undefined && !this.#isPaused) this.#end();
  }

  /** Calls back once, when nothing waits any more. */
  onceDrained(callback: () => void): void {
    this.#drained = callback;
  }

  /** Sends headers; with `endStream` they are all, or the end of the answer. */
  sendHeaders(list: FieldList, endStream = false): void {
    if (this.#isAnswered || this.#isClosed) return;
    this.#headersSent = true;
    if (endStream) this.#isAnswered = true;
    this.#send({ list, endStream });
  }

  /**
   * Sends bytes.
   * @param written  called once when they are no longer needed, also when the stream ends before they are sent
   */
  sendBytes(pieces: readonly Uint8Array[], byteLength: number, written: () => void): void {
    if (this.#isAnswered || this.#isClosed || byteLength === 0) {
      written();
      return;
    }
    this.#waitingBytes += byteLength;
    this.#send({ pieces, left: byteLength, piece: 0, offset: 0, written });
  }

  /** Ends the stream at once. */
  reset(code: number): void {
    if (this.#isClosed) return;
    this.#owner.sendReset(this.id, code);
    this.close();
  }

  /** What the client would still send is not wanted, and it is told so. */
  stopRequest(): void {
    this.reset(H2.NO_ERROR);
  }

  /** DATA has begun. @returns false when the client had no right to send as much */
  receive(length: number): boolean {
    this.#receiveWindow -= length;
    return this.#receiveWindow >= 0;
  }

  /** The client has heard what its window is. */
  changeReceiveWindow(bytes: number): void {
    this.#receiveWindow += bytes;
  }

  /** @returns false when the request is longer than it said */
  take(piece: Buffer): boolean {
    if (this.#expectedBytes !== undefined) {
      this.#expectedBytes -= piece.length;
      if (this.#expectedBytes < 0) return false;
    }
    if (!this.#isPaused && this.#held === undefined) this.#deliver(piece);
    else {
      this.#held ??= new HeldPieces();
      this.#held.push(piece);
    }
    return true;
  }

  /** Padding is never held. */
  creditPadding(bytes: number): void {
    this.#credit(bytes);
  }

  /** The client sends no more. @returns false when the request is shorter than it said */
  remoteEnd(): boolean {
    if (this.#expectedBytes !== undefined && this.#expectedBytes !== 0) return false;
    this.#isRemoteClosed = true;
    if (this.#isFinished) this.close();
    else if (!this.#isPaused && this.#held === undefined) this.#end();
    return true;
  }

  /** @returns false when the window becomes larger than one may be */
  addSendWindow(bytes: number): boolean {
    this.#sendWindow += bytes;
    if (this.#sendWindow > LARGEST_WINDOW) return false;
    if (bytes > 0 && this.#queue.length > 0) this.#wait();
    return true;
  }

  /** Ends the stream without a word to the client. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#owner.remove(this);
    for (const item of this.#queue.splice(0)) if ('written' in item) item.written();
    this.#waitingBytes = 0;
    const held = this.#held?.byteLength ?? 0;
    this.#held = undefined;
    if (held > 0) this.#owner.credit(held);
    this.#handler?.closed();
    this.#drained = undefined;
  }

  /** Sends one frame, or all that are short. */
  pump(): Stop {
    const { output } = this.#owner;
    for (let item = this.#queue[0]; item !== undefined; item = this.#queue[0]) {
      if (output.isFull) return 'full';
      if ('list' in item) {
        this.#queue.shift();
        this.#sendList(item.list, item.endStream);
        continue;
      }
      const length = Math.min(item.left, this.#sendWindow, this.#owner.sendWindow, this.#owner.frameBytes);
      if (length <= 0) return this.#sendWindow <= 0 ? 'stream-window' : 'connection-window';
      this.#sendData(item, length);
      if (item.left > 0) return 'turn';
    }
    return 'done';
  }

  #send(item: Item): void {
    this.#queue.push(item);
    if (this.#queue.length > 1) return;
    let stop = this.pump();
    while (stop === 'turn') stop = this.pump();
    if (stop === 'connection-window' || stop === 'full') this.#wait();
    this.#owner.output.schedule();
  }

  #wait(): void {
    this.#owner.waits(this);
  }

  #sendList(list: FieldList, endStream: boolean): void {
    this.#owner.sendHeaders(this.id, list, endStream);
    if (!endStream) return;
    this.#isFinished = true;
    if (this.#isRemoteClosed) this.close();
    else this.#owner.finished(this);
  }

  #sendData(item: Extract<Item, { readonly written: () => void }>, length: number): void {
    const { output } = this.#owner;
    this.#sendWindow -= length;
    this.#owner.sendWindow -= length;
    this.#owner.sentCount++;
    this.#waitingBytes -= length;
    item.left -= length;
    const isLast = item.left === 0;
    if (isLast) this.#queue.shift();
    output.head(length, FRAME.data, 0, this.id);
    for (let left = length; left > 0; ) {
      const piece = item.pieces[item.piece] ?? NOTHING;
      const end = Math.min(piece.length, item.offset + left);
      const slice = item.offset === 0 && end === piece.length ? piece : piece.subarray(item.offset, end);
      left -= end - item.offset;
      item.offset = end;
      if (end === piece.length) {
        item.piece++;
        item.offset = 0;
      }
      output.bytes(slice);
    }
    if (isLast) {
      if (item.pieces.some(({ length: bytes }) => bytes >= VIEW_FROM_BYTES)) output.afterwards(item.written);
      else item.written();
    }
    if (this.#waitingBytes === 0) this.#tellDrained();
  }

  #tellDrained(): void {
    const drained = this.#drained;
    this.#drained = undefined;
    drained?.();
  }

  #deliver(piece: Buffer): void {
    // What is held must not overtake what is being looked at, should that resume.
    this.#isDelivering = true;
    if (!this.#isAnswered) this.#handler?.data(piece);
    this.#isDelivering = false;
    this.#credit(piece.length);
  }

  #credit(bytes: number): void {
    this.#owner.credit(bytes);
    if (this.#isRemoteClosed || this.#isClosed) return;
    this.#uncredited += bytes;
    if (this.#uncredited * 2 < this.#windowBytes) return;
    this.#receiveWindow += this.#uncredited;
    this.#owner.sendWindowUpdate(this.id, this.#uncredited);
    this.#uncredited = 0;
  }

  #end(): void {
    if (this.#hasEnded || this.#isClosed) return;
    this.#hasEnded = true;
    this.#handler?.ended();
  }
}

const NOTHING = new Uint8Array(0);
